import { fileURLToPath } from 'node:url'
import type { MemoryAnswer, MemoryQuestion } from './memory/answer-memory.ts'
import type { LoadAnswer, LoadQuestion } from './memory/load-client.ts'
import { startPinned } from './pinned-process.ts'
import type { Measured } from './suspended/measure.ts'
import { runProgram } from './suspended/run-program.ts'

const rows = [
  { title: 'requests over HTTP', work: 'requests', count: 200_000, warmUp: 20_000 },
  { title: 'subscriptions/listen, dropped', work: 'subscriptions', count: 10_000, warmUp: 4000 },
  { title: 'calls with progress, dropped', work: 'progress', count: 10_000, warmUp: 4000 },
] as const

/**
 * Measures the memory that remains in use after 200,000 requests, after 100,000 suspended calls, and after 10,000
 * streams of either kind whose clients disconnected. With `--quick` it measures a tenth of each.
 *
 * Method: each kind has its own server process and a load over real connections. Memory is read after a warm-up and
 * again at the end, each time without open connections and after four full collections. Not measured: memory during the
 * load.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const share = quick ? 0.1 : 1
  print(`memory in use after the work, Node ${process.version}`)
  for (const { title, work, count, warmUp } of rows) {
    const [before, after] = await measure(work, count * share, warmUp)
    printRow(title, count * share, [before.heapBytes, after.heapBytes])
    print(`${''.padEnd(39)}  RSS  ${megabytes(before.residentBytes)} to ${megabytes(after.residentBytes)} MB`)
  }
  const calls = 100_000 * share
  const program = fileURLToPath(new URL('./suspended/program.js', import.meta.url))
  const { heaps } = await runProgram<Measured>(program, [String(calls), '1'], ['dist'])
  const [before = Number.NaN, after = Number.NaN] = heaps
  printRow('suspended calls', calls, [before, after])
}

/** Returns the memory that a server uses before and after some work. */
async function measure(
  work: LoadQuestion['work'],
  count: number,
  warmUp: number,
): Promise<readonly [MemoryAnswer, MemoryAnswer]> {
  const server = await startPinned<MemoryQuestion, MemoryAnswer>('memory/our-server.js', 0)
  const client = await startPinned<LoadQuestion, LoadAnswer>('memory/load-client.js', 1)
  const doWork = async (times: number): Promise<MemoryAnswer> => {
    const { failure } = await client.ask({ url, work, count: times })
    if (failure !== undefined) throw new Error(`the load failed, so the measurement is invalid: ${failure}`)
    return server.ask({ ask: 'memory' })
  }
  const { url } = await server.ask({ ask: 'url' })
  try {
    return [await doWork(warmUp), await doWork(count)]
  } finally {
    await Promise.all([server.stop(), client.stop()])
  }
}

function printRow(title: string, count: number, [before, after]: readonly [number, number]): void {
  const each = `${((after - before) / count).toFixed(1).padStart(6)} bytes each`
  print(`${String(count).padStart(7)} ${title.padEnd(30)}  heap ${megabytes(before)} to ${megabytes(after)} MB ${each}`)
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2).padStart(7)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
