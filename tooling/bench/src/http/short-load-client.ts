import { openHttpConnection } from './connection.ts'
import type { LoadAnswer, LoadQuestion } from './load.ts'

// A load whose slices may be as short as a tenth of a second; autocannon ends on whole seconds.

process.once('disconnect', () => process.exit())
process.on('message', (question: LoadQuestion) => {
  void load(question).then((answer) => process.send?.(answer))
})

async function load({ url, call, connections, seconds }: LoadQuestion): Promise<LoadAnswer> {
  const times: number[] = []
  let failures = 0
  const started = performance.now()
  const end = started + seconds * 1000
  const drive = async (): Promise<void> => {
    const connection = await openHttpConnection(url, call.headers)
    while (performance.now() < end) {
      const sentAt = performance.now()
      const { status } = await connection.post(call.body)
      if (status === 200) times.push(performance.now() - sentAt)
      else failures += 1
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, drive))
  const elapsed = (performance.now() - started) / 1000
  const sorted = Float64Array.from(times).sort()
  return {
    requests: sorted.length,
    perSecond: sorted.length / elapsed,
    medianMilliseconds: sorted[sorted.length >> 1] ?? Number.NaN,
    p99Milliseconds: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    failures,
  }
}
