import { connect, type Socket } from 'node:net'
import type { LoadAnswer, LoadQuestion } from '../http/load.ts'
import { endOfFlow, flowBody, type FlowResult, nextOf, postsOfFlow, type Retry } from './flow.ts'
import { messageIn, readResponse, type ReadResponse } from './read-response.ts'

// A load of its own on bare sockets: what comes with one response goes into the next request, and an HTTP client that
// can do that costs more than the server it is to measure.

process.once('disconnect', () => process.exit())
process.on('message', (question: LoadQuestion) => {
  void load(question).then((answer) => process.send?.(answer))
})

/** What all connections have seen. */
interface Seen {
  readonly times: number[]
  failures: number
}

async function load({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const seen: Seen = { times: [], failures: 0 }
  const started = performance.now()
  const end = started + seconds * 1000
  const drive = async (): Promise<void> => {
    const line = await openLine(url, call.headers)
    while (performance.now() < end) await runFlow(line, seen)
    line.close()
  }
  await Promise.all(Array.from({ length: connections }, drive))
  const elapsed = (performance.now() - started) / 1000
  const sorted = Float64Array.from(seen.times).sort()
  return {
    requests: sorted.length,
    perSecond: sorted.length / elapsed,
    medianMilliseconds: sorted[sorted.length >> 1] ?? Number.NaN,
    p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failures: seen.failures,
  }
}

/** One flow from its first POST to the result, which has to be the right one after the right number of POSTs. */
async function runFlow(line: Line, seen: Seen): Promise<void> {
  let retry: Retry = {}
  for (let posts = 1; posts <= postsOfFlow; posts++) {
    const sent = performance.now()
    const { status, body } = await line.post(flowBody(retry))
    seen.times.push(performance.now() - sent)
    const { result = {} }: { result?: FlowResult } = status === 200 ? JSON.parse(messageIn(body)) : {}
    if (result.resultType === 'input_required' && posts < postsOfFlow) retry = nextOf(result)
    else if (posts < postsOfFlow || result.content?.[0]?.text !== endOfFlow) return fail(seen)
  }
}

function fail(seen: Seen): void {
  seen.failures += 1
}

/** A connection that carries one request after the other. */
interface Line {
  post(body: string): Promise<ReadResponse>
  close(): void
}

async function openLine(url: string, headers: Readonly<Record<string, string>>): Promise<Line> {
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
