import autocannon from 'autocannon'
import type { Call } from './call.ts'

/** What the benchmark asks of the load. */
export interface LoadQuestion {
  readonly url: string
  readonly call: Call
  readonly connections: number
  readonly seconds: number
}

/** What the load saw. */
export interface LoadAnswer {
  readonly requests: number
  readonly perSecond: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
  /** Requests without an answer, and answers with another status than 2xx. */
  readonly failures: number
}

process.once('disconnect', () => process.exit())
process.on('message', (question: LoadQuestion) => {
  void load(question).then((answer) => process.send?.(answer))
})

async function load({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const started = performance.now()
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    method: 'POST',
    headers: { ...call.headers },
    body: call.body,
  })
  const elapsed = (performance.now() - started) / 1000
  const requests = result['2xx']
  return {
    requests,
    perSecond: requests / elapsed,
    medianMilliseconds: result.latency.p50,
    p99Milliseconds: result.latency.p99,
    failures: result.non2xx + result.errors + result.timeouts,
  }
}
