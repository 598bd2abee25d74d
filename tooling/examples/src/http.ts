import { createServer } from 'node:http'
import { httpHandler } from '@x/transport-http'
import { type HttpServer, nodeHandler, serveHttp } from '@x/transport-http/node'
import { server } from './server.ts'

export function serve(): Promise<HttpServer> {
  return serveHttp(server, { port: Number(process.env['PORT'] ?? 0) })
}

// #region public
export function servePublicly(): Promise<HttpServer> {
  return serveHttp(server, {
    host: '0.0.0.0',
    port: 8080,
    allowedHosts: ['mcp.example.com'],
    allowedOrigins: ['https://app.example.com'],
  })
}
// #endregion

// #region auth
const tokens = new Map([['secret-of-ada', { subject: 'ada', scopes: ['admin'] }]])

export function serveKnownCallers(): Promise<HttpServer> {
  return serveHttp(server, {
    auth(request) {
      const token = request.header('authorization')?.replace(/^Bearer /, '')
      return tokens.get(token ?? '') ?? { status: 401, message: 'Send a known bearer token' }
    },
  })
}
// #endregion

export function serveBehindProxy(): Promise<HttpServer> {
  return serveHttp(server, {
    host: '0.0.0.0',
    allowedHosts: ['mcp.example.com'],
    clientAddress: (request) => request.header('x-forwarded-for')?.split(',').at(-1)?.trim(),
  })
}

// #region node
export const plain = createServer(nodeHandler(server))
// #endregion

// #region fetch
export const worker = { fetch: httpHandler(server, { allowedHosts: ['mcp.example.com'] }) }
// #endregion
