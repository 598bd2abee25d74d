import { fileURLToPath } from 'node:url'
import { runProgram } from './suspended/run-program.ts'

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
  const { heaps, callsPerSecond } = await runProgram(program, [String(calls), '1'], ['dist'])
  const [before = Number.NaN, after = Number.NaN] = heaps
  const perCall = (after - before) / calls
  process.stdout.write(
    `${calls} suspended calls\n` +
      `  heap before        ${megabytes(before)} MB\n` +
      `  heap after         ${megabytes(after)} MB\n` +
      `  retained per call  ${perCall.toFixed(1).padStart(8)} bytes\n` +
      `  calls per second   ${Math.round(callsPerSecond).toString().padStart(8)}\n`,
  )
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2).padStart(8)
}
