import { httpHandler } from '@x/transport-http'
import { createRuntimeServer } from '../server.ts'

interface BunServer {
  readonly port: number
}

declare const Bun: {
  serve(options: { port: number; hostname: string; fetch: (request: Request) => Promise<Response> }): BunServer
}

const { port } = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: httpHandler(createRuntimeServer()) })
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` }))
