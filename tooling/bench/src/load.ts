import { connect } from 'node:net'
import autocannon from 'autocannon'
import { request } from 'undici'
import type { Call } from './calls.ts'
import { answerQuestions, type Program, type Programs, type RunningServer } from './processes.ts'
import type { Column } from './alternating.ts'
import type { CpuMeasurement } from './ratios.ts'

/** A question of the benchmark to a load. */
export interface LoadQuestion {
  readonly url: string
  readonly call: Call
  readonly connections: number
  readonly seconds: number
}

/** The measurements of a load. */
export interface LoadAnswer {
  readonly requests: number
  readonly perSecond: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
  /** Requests without a right response. */
  readonly failures: number
}

/** A process that sends requests. */
export type Load = Program<LoadQuestion, LoadAnswer>

/** The measurement of a server under load. */
export type CallMeasurement = LoadAnswer & CpuMeasurement

export const rateColumn: Column<CallMeasurement> = { unit: '/s', of: ({ perSecond }) => perSecond, digits: 0 }

/** The length of a measurement, in seconds of the clock or of the server's CPU. */
export interface LoadTime {
  readonly unit?: 'clock' | 'cpu' | undefined
  readonly seconds: number
}

/**
 * Sends calls to a server, and returns the CPU that it used for each. Seconds of CPU are measured in slices.
 *
 * @throws Error for the first failed request, because a server that fails is fast.
 */
export async function measureCalls(
  load: Load,
  server: RunningServer,
  { call, connections, seconds, unit = 'clock' }: Omit<LoadQuestion, 'url' | 'seconds'> & LoadTime,
): Promise<CallMeasurement> {
  const { url } = server
  const before = await server.cpu()
  let requests = 0
  for (;;) {
    const seen = await load.ask({ url, call, connections, seconds: unit === 'cpu' ? 0.25 : seconds })
    const { failures } = seen
    if (failures > 0) throw new Error(`${failures} requests to ${url} failed: the measurement is invalid`)
    requests += seen.requests
    const used = (await server.cpu()) - before
    if (unit === 'clock' || used >= seconds * 1e6) return { ...seen, cpu: used / requests }
  }
}

/** Throws unless a server returns the right response to a call. */
export async function checkAnswer(
  { url }: Pick<RunningServer, 'url'>,
  { headers, body, expected }: Call,
): Promise<void> {
  const response = await request(url, { method: 'POST', headers, body })
  const text = await response.body.text()
  if (response.statusCode !== 200 || !text.includes(expected))
    throw new Error(`a server is wrong: it answered ${response.statusCode} ${text.slice(0, 500)}`)
}

/** The loads. autocannon ends on whole seconds, so slices are sent over bare sockets. */
export const programs: Programs = {
  autocannon: () => answerQuestions(runAutocannon),
  sockets: () =>
    serveLoad(async (connection, observations, call) => {
      const sentAt = performance.now()
      const { status } = await connection.post(call.body)
      if (status === 200) observations.times.push(performance.now() - sentAt)
      else observations.failures += 1
    }),
}

async function runAutocannon({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  // The percentiles of autocannon are whole milliseconds, and most calls take less than one.
  const times: number[] = []
  const started = performance.now()
  const { headers, body } = call
  const { non2xx, errors, timeouts, ...result } = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      { url, connections, duration: seconds, method: 'POST', headers: { ...headers }, body },
      (error, finished) => (error ? reject(error) : resolve(finished)),
    )
    // The fourth argument of the event is the time in milliseconds.
    instance.on('response', (...response) => times.push(response[3]))
  })
  const failures = non2xx + errors + timeouts
  return { ...answerOf({ times, failures }, performance.now() - started), requests: result['2xx'] }
}

/** What the connections of a load have seen: the milliseconds of each request, and the requests without an answer. */
export interface Observations {
  readonly times: number[]
  failures: number
}

/** Summarizes a load. */
export function answerOf({ times, failures }: Observations, milliseconds: number): LoadAnswer {
  const sorted = Float64Array.from(times).sort()
  return {
    requests: sorted.length,
    perSecond: (sorted.length * 1000) / milliseconds,
    medianMilliseconds: sorted[sorted.length >> 1] ?? Number.NaN,
    p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failures,
  }
}

/** A connection that sends one request after the other. */
export interface HttpConnection {
  post(body: string): Promise<ReadResponse>
  close(): void
}

/** Runs a load on bare sockets for each question. A function sends a request, or several that belong together. */
export function serveLoad(
  send: (connection: HttpConnection, observations: Observations, call: Call) => Promise<void>,
): void {
  answerQuestions(async ({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> => {
    const observations: Observations = { times: [], failures: 0 }
    const started = performance.now()
    const runConnection = async (): Promise<void> => {
      const connection = openConnection(url, call.headers)
      while (performance.now() < started + seconds * 1000) await send(connection, observations, call)
      connection.close()
    }
    await Promise.all(Array.from({ length: connections }, runConnection))
    return answerOf(observations, performance.now() - started)
  })
}

/** Opens a connection whose requests are POSTs with the same headers. At most one response is pending. */
function openConnection(url: string, headers: Readonly<Record<string, string>>): HttpConnection {
  const { hostname, port, host, pathname } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${pathname} HTTP/1.1\r\n${lines.join('')}content-length: `
  let bytes: Buffer = Buffer.alloc(0)
  let settle: (response: ReadResponse) => void = () => {}
  let fail: (error: Error) => void = () => {}
  socket.on('data', (chunk) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const response = readResponse(bytes)
    if (response === undefined) return
    bytes = response.rest
    settle(response)
  })
  socket.on('error', (error) => fail(error))
  socket.on('close', () => fail(new Error('the server closed a connection')))
  return {
    post: (body) => {
      socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`)
      return new Promise((resolve, reject) => {
        settle = resolve
        fail = reject
      })
    },
    close: () => socket.destroy(),
  }
}

/** A complete response, and the bytes that follow it. */
export interface ReadResponse {
  readonly status: number
  readonly body: string
  readonly rest: Buffer
}

/**
 * Reads one response of HTTP/1.1 from the start of a buffer. Returns undefined for an incomplete response.
 *
 * @throws Error for a response whose header has no length of the body.
 */
export function readResponse(bytes: Buffer): ReadResponse | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const content = bytes.subarray(end + 4)
  const length = /^content-length: *(\d+)/im.exec(head)?.[1]
  if (length !== undefined) {
    const bodyLength = Number(length)
    if (content.length < bodyLength) return undefined
    return { status, body: content.toString('utf8', 0, bodyLength), rest: content.subarray(bodyLength) }
  }
  if (!/^transfer-encoding: *chunked/im.test(head)) throw new Error(`no length in the head of a response: ${head}`)
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const endOfSize = content.indexOf('\r\n', at)
    if (endOfSize === -1) return undefined
    const size = Number.parseInt(content.toString('latin1', at, endOfSize), 16)
    const start = endOfSize + 2
    // A line break follows each chunk, also the last one, which is empty.
    at = start + size + 2
    if (content.length < at) return undefined
    if (size === 0) return { status, body: Buffer.concat(chunks).toString(), rest: content.subarray(at) }
    chunks.push(content.subarray(start, start + size))
  }
}

/** Returns the message of a body: the body itself, or the last event of a stream. */
export function messageIn(body: string): string {
  if (body.startsWith('{')) return body
  const last = body.lastIndexOf('data: {')
  return last === -1 ? '{}' : body.slice(last + 'data: '.length)
}
