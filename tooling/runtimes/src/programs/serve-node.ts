import { serveHttp } from '@x/transport-http/node'
import { createRuntimeServer } from '../server.ts'

const { url } = await serveHttp(createRuntimeServer())
console.log(JSON.stringify({ url }))
