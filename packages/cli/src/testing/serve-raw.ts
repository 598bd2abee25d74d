import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type ServerResponse } from 'node:http'

/** Starts an HTTP server of the test's own. */
export async function serveRaw(listener: RequestListener): Promise<AsyncDisposable & { readonly url: string }> {
  const http = createHttpServer(listener).listen(0, '127.0.0.1')
  await once(http, 'listening')
  const address = http.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const dispose = async (): Promise<void> => {
    http.closeAllConnections()
    http.close()
    await once(http, 'close')
  }
  return { url: `http://127.0.0.1:${port}/mcp`, [Symbol.asyncDispose]: dispose }
}

export const sendJson = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** A result of `server/discover`. */
export const discovery = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
}
