import { fileURLToPath } from 'node:url'
import { print } from './benchmark.ts'
import type { Measured } from './suspended/measure.ts'
import { runProgram } from './suspended/run-program.ts'
import { waitingServers } from './suspended/waiting-servers.ts'

/**
 * Measures the memory that calls with an unanswered question leave behind, and the number of such calls per second.
 *
 * Method: a separate process makes 3,000 calls to warm up, then 100,000 (20,000 with `--quick`), a hundred
 * concurrently, over an exchange in memory. Each call records a step, asks two questions at once and ends with
 * `input_required`. No client answers. The used heap is read before and after, each time after four full collections. A
 * server that retained one empty object per call would show at least 28 bytes per call. Not measured: sockets, memory
 * outside V8's heap, and the rounds that answer.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const calls = quick ? 20_000 : 100_000
  const program = fileURLToPath(new URL('./suspended/program.js', import.meta.url))
  const { heaps, callsPerSecond } = await runProgram<Measured>(program, [String(calls), '1'], ['dist'])
  const [before = Number.NaN, after = Number.NaN] = heaps
  const perCall = (after - before) / calls
  print(
    `${calls} suspended calls\n` +
      `  heap before        ${megabytes(before)} MB\n` +
      `  heap after         ${megabytes(after)} MB\n` +
      `  retained per call  ${perCall.toFixed(1).padStart(8)} bytes\n` +
      `  calls per second   ${Math.round(callsPerSecond).toString().padStart(8)}`,
  )
  await measureWaiting(quick ? [2000, 10_000] : [10_000, 100_000])
}

async function measureWaiting(counts: readonly number[]): Promise<void> {
  const program = fileURLToPath(new URL('./suspended/waiting-program.js', import.meta.url))
  print(`bytes of a user who waits, with ${counts.join(' and ')} of them`)
  for (const [name, { revision, maxSessions = Infinity }] of waitingServers) {
    const cells: string[] = []
    for (const count of counts) {
      if (count > maxSessions) cells.push(`at most ${maxSessions} sessions`)
      else {
        const { bytesPerCall } = await runProgram<{ bytesPerCall: number }>(program, [name, String(count)], ['dist'])
        cells.push(`${Math.round(bytesPerCall)} B`)
      }
    }
    print(`  ${name.padEnd(30)}  ${revision}  ${cells.map((cell) => cell.padStart(24)).join('')}`)
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2).padStart(8)
}
