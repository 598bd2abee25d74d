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
  /** Requests without a right answer. */
  readonly failures: number
}

process.once('disconnect', () => process.exit())
process.on('message', (question: LoadQuestion) => {
  void load(question).then((answer) => process.send?.(answer))
})

async function load({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  // autocannon's own percentiles are whole milliseconds, which is more than most calls take.
  const times: number[] = []
  const started = performance.now()
  const { non2xx, errors, timeouts, ...result } = await new Promise<autocannon.Result>((resolve, reject) => {
    const instance = autocannon(
      {
        url,
        connections,
        duration: seconds,
        method: 'POST',
        headers: { ...call.headers },
        body: call.body,
      },
      (error, finished) => (error ? reject(error) : resolve(finished)),
    )
    // The fourth of what it tells of a response is the time, in milliseconds.
    instance.on('response', (...response) => times.push(response[3]))
  })
  const elapsed = (performance.now() - started) / 1000
  const requests = result['2xx']
  const sorted = Float64Array.from(times).sort()
  return {
    requests,
    perSecond: requests / elapsed,
    medianMilliseconds: sorted[sorted.length >> 1] ?? Number.NaN,
    p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failures: non2xx + errors + timeouts,
  }
}
