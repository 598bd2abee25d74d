import { connect, type Socket } from 'node:net'
import type { Call } from './call.ts'
import type { LoadAnswer, LoadQuestion } from './load.ts'
import { readResponse, type ReadResponse } from './read-response.ts'

/** A connection that sends one request after the other. */
export interface HttpConnection {
  post(body: string): Promise<ReadResponse>
  close(): void
}

/** Opens a connection whose requests are POSTs with the same headers. */
async function openHttpConnection(url: string, headers: Readonly<Record<string, string>>): Promise<HttpConnection> {
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

/** Returns a function that reads the next response. At most one response is pending. */
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

/** The measurements of all connections of a load. */
export interface Observations {
  /** Milliseconds of each request. */
  readonly times: number[]
  failures: number
}

/** Sends one request, or several that belong together, and records times and failures. */
export type SendRequests = (connection: HttpConnection, observations: Observations, call: Call) => Promise<void>

/** Runs a load on bare sockets for each question of the benchmark, until the parent process disconnects. */
export function serveLoad(sendRequests: SendRequests): void {
  process.once('disconnect', () => process.exit())
  process.on('message', (question: LoadQuestion) => {
    void runLoad(question, sendRequests).then((answer) => process.send?.(answer))
  })
}

async function runLoad(
  { url, call, connections, seconds }: LoadQuestion,
  sendRequests: SendRequests,
): Promise<LoadAnswer> {
  const observations: Observations = { times: [], failures: 0 }
  const started = performance.now()
  const end = started + seconds * 1000
  const runConnection = async (): Promise<void> => {
    const connection = await openHttpConnection(url, call.headers)
    while (performance.now() < end) await sendRequests(connection, observations, call)
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, runConnection))
  const elapsed = (performance.now() - started) / 1000
  const sorted = Float64Array.from(observations.times).sort()
  return {
    requests: sorted.length,
    perSecond: sorted.length / elapsed,
    medianMilliseconds: sorted[sorted.length >> 1] ?? Number.NaN,
    p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failures: observations.failures,
  }
}
