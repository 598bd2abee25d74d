import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { listenLocally } from './listen-locally.ts'

/** A server of the official SDK v2 over HTTP. */
export interface ServedV2 extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

/** Serves a handler of the official SDK v2 over HTTP. */
export async function serveOfficialV2(handler: Parameters<typeof toNodeHandler>[0]): Promise<ServedV2> {
  const handle = toNodeHandler(handler)
  // @ts-expect-error The types of the official SDK were not written for exactOptionalPropertyTypes.
  const http = createServer((request, response) => void handle(request, response))
  const url = `http://127.0.0.1:${await listenLocally(http)}/mcp`
  const close = async (): Promise<void> => {
    http.closeAllConnections()
    http.close()
  }
  return { url, close, [Symbol.asyncDispose]: close }
}
