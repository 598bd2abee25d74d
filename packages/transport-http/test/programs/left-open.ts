import { createServer } from '@x/server'
import { serveHttp } from '@x/transport-http/node'

// The program opens a resource that it does not close, as one with a database client does.
setInterval(() => {}, 1_000_000)
const { url } = await serveHttp(createServer({ name: 'demo', version: '1.0.0' }), { stopOnSignals: true })
process.stdout.write(`${url}\n`)
