import type { Server } from '@x/exchange'
import { encodeHeaderValue } from '@x/schema'
import { httpHandler } from '@x/transport-http'
import { serveHttp } from '@x/transport-http/node'
import { startSplittingProxy } from './splitting-proxy.ts'
import { type MessageHeaders, parseObject, type RawTransport } from './raw-transport.ts'

/** Sends POST requests to a loopback socket. */
export async function openHttp(server: Server): Promise<RawTransport> {
  const http = await serveHttp(server)
  return postTo(fetch, http.url, () => http.close({ graceMs: 0 }))
}

/** Sends POST requests through a proxy that forwards the bytes in pieces of random sizes. */
export async function openProxy(server: Server): Promise<RawTransport> {
  const http = await serveHttp(server)
  const proxy = await startSplittingProxy(http.port)
  const close = async (): Promise<void> => {
    await proxy[Symbol.asyncDispose]()
    await http.close({ graceMs: 0 })
  }
  return postTo(fetch, `http://127.0.0.1:${proxy.port}/mcp`, close)
}

/** Calls the handler of web requests directly. */
export function openFetch(server: Server): Promise<RawTransport> {
  const handle = httpHandler(server)
  const send: Send = (url, init) => handle(new Request(url, init))
  return Promise.resolve(postTo(send, 'http://127.0.0.1/mcp', () => Promise.resolve()))
}

type Send = (url: string, init: RequestInit) => Promise<Response>

function postTo(send: Send, url: string, close: () => Promise<void>): RawTransport {
  const post = async (text: string, { method, name }: MessageHeaders): Promise<string> => {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    }
    const response = await send(url, { method: 'POST', headers, body: text })
    return response.text()
  }
  return {
    request: async (text, labels = { method: 'none' }) => parseObject(await post(text, labels)),
    notify: async (text, labels = { method: 'none' }) => void (await post(text, labels)),
    [Symbol.asyncDispose]: close,
  }
}
