import { httpHandler } from '@x/transport-http'
import { createRuntimeServer } from '../server.ts'

interface BunServer {
  readonly port: number
  /** Stops listening, and resolves when all requests are answered. */
  stop(): Promise<void>
}

declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: (request: Request) => Promise<Response> }): BunServer
}

const server = createRuntimeServer()
const served = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: httpHandler(server) })
process.once('SIGTERM', () => void served.stop().then(() => server.close()))
console.log(JSON.stringify({ url: `http://127.0.0.1:${served.port}/mcp` }))
