import type { LoadAnswer, LoadQuestion } from '../http/load.ts'
import { endOfFlow, flowBody, type FlowResult, nextOf, postsOfFlow, type Retry } from './flow.ts'
import { type HttpConnection, openHttpConnection } from '../http/connection.ts'
import { messageIn } from '../http/read-response.ts'

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
    const connection = await openHttpConnection(url, call.headers)
    while (performance.now() < end) await runFlow(connection, seen)
    connection.close()
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
async function runFlow(connection: HttpConnection, seen: Seen): Promise<void> {
  let retry: Retry = {}
  for (let posts = 1; posts <= postsOfFlow; posts++) {
    const sent = performance.now()
    const { status, body } = await connection.post(flowBody(retry))
    seen.times.push(performance.now() - sent)
    const { result = {} }: { result?: FlowResult } = status === 200 ? JSON.parse(messageIn(body)) : {}
    if (result.resultType === 'input_required' && posts < postsOfFlow) retry = nextOf(result)
    else if (posts < postsOfFlow || result.content?.[0]?.text !== endOfFlow) return fail(seen)
  }
}

function fail(seen: Seen): void {
  seen.failures += 1
}
