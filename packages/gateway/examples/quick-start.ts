import { proxy } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'

// A server of any revision, as a process. Its hosts speak any revision, too.
const upstream = { connect: () => connectAny({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] }) }
const server = proxy(upstream, { name: 'memory', version: '1.0.0', extensions: [legacy()] })
export const http = await serveHttp(server, { port: Number(process.env['PORT'] ?? 3000), stopOnSignals: true })
console.log(http.url)
