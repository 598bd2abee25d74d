import { httpHandler } from '@x/transport-http'
import { createRuntimeServer } from '../server.ts'

interface DenoServer {
  readonly addr: { readonly port: number }
  /** Stops listening, and resolves when all requests are answered. */
  shutdown(): Promise<void>
}

declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): DenoServer
}

const options = { port: 0, hostname: '127.0.0.1', onListen: () => {} }
const server = createRuntimeServer()
const served = Deno.serve(options, httpHandler(server))
process.once('SIGTERM', () => void served.shutdown().then(() => server.close()))
console.log(JSON.stringify({ url: `http://127.0.0.1:${served.addr.port}/mcp` }))
