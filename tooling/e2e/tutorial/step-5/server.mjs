import { serveHttp } from '@x/transport-http/node'
import { createBakery } from './bakery.mjs'

const http = await serveHttp(createBakery(), { port: Number(process.env.PORT ?? 3000), stopOnSignals: true })
console.log(`Serving ${http.url}`)
