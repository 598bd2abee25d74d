import { fileURLToPath } from 'node:url'
import { runProgram } from './suspended/run-program.ts'

/**
 * What is left in memory of calls that ask and are never answered, and how many of them a server takes in a second.
 *
 * Method: a process of its own makes 3,000 calls to warm up, then 100,000 (with `--quick` 20,000), a hundred at a time,
 * over an exchange in memory. Each call records a step, asks two things at once and ends with `input_required`; nobody
 * comes back. The used heap is read before and after, each time after four full collections. A server that kept one
 * empty object a call would show 28 bytes a call or more. Not measured: sockets, memory outside V8's heap, and the
 * rounds that answer.
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
      `  left of each call  ${perCall.toFixed(1).padStart(8)} bytes\n` +
      `  calls per second   ${Math.round(callsPerSecond).toString().padStart(8)}\n`,
  )
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2).padStart(8)
}
