import autocannon from 'autocannon'
import type { Call } from './call.ts'

/** A question of the benchmark to the load. */
export interface LoadQuestion {
  readonly url: string
  readonly call: Call
  readonly connections: number
  readonly seconds: number
}

/** The measurements of the load. */
export interface LoadAnswer {
  readonly requests: number
  readonly perSecond: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
  /** Requests without a right response. */
  readonly failures: number
}

process.once('disconnect', () => process.exit())
process.on('message', (question: LoadQuestion) => {
  void load(question).then((answer) => process.send?.(answer))
})

async function load({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  // The percentiles of autocannon are whole milliseconds, and most calls take less than one.
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
    // The fourth argument of the event is the time in milliseconds.
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
