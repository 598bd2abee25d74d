import { serveHttp } from '@x/transport-http/node'
import { createRuntimeServer } from '../server.ts'

const { url } = await serveHttp(createRuntimeServer(), { stopOnSignals: true })
console.log(JSON.stringify({ url }))
