import { httpHandler } from '@x/transport-http'
import { createRuntimeServer } from '../server.ts'

interface DenoServer {
  readonly addr: { readonly port: number }
}

declare const Deno: {
  serve(
    options: { port: number; hostname: string; onListen: () => void },
    handler: (request: Request) => Promise<Response>,
  ): DenoServer
}

const options = { port: 0, hostname: '127.0.0.1', onListen: () => {} }
const { addr } = Deno.serve(options, httpHandler(createRuntimeServer()))
console.log(JSON.stringify({ url: `http://127.0.0.1:${addr.port}/mcp` }))
