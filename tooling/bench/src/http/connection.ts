import { connect, type Socket } from 'node:net'
import { readResponse, type ReadResponse } from './read-response.ts'

/** A connection that carries one request after the other. */
export interface HttpConnection {
  post(body: string): Promise<ReadResponse>
  close(): void
}

/** Opens a connection whose requests are POSTs with the same headers. */
export async function openHttpConnection(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<HttpConnection> {
  const { hostname, port, host, pathname } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${pathname} HTTP/1.1\r\n${lines.join('')}content-length: `
  const next = responsesOf(socket)
  return {
    post: (body) => {
      socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`)
      return next()
    },
    close: () => socket.destroy(),
  }
}

/** Gives the next response of a connection; there is never more than one on the way. */
function responsesOf(socket: Socket): () => Promise<ReadResponse> {
  let bytes: Buffer = Buffer.alloc(0)
  let settle: ((response: ReadResponse) => void) | undefined
  let fail: ((error: Error) => void) | undefined
  socket.on('data', (chunk) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const response = readResponse(bytes)
    if (response === undefined) return
    bytes = response.rest
    settle?.(response)
  })
  socket.on('error', (error) => fail?.(error))
  socket.on('close', () => fail?.(new Error('the server closed a connection')))
  return () =>
    new Promise((resolve, reject) => {
      settle = resolve
      fail = reject
    })
}
