import { median } from './alternating.ts'
import { type CallForm, compileCalls } from './many-calls.ts'

const tools = 500

/**
 * Measures the CPU time in which TypeScript checks 500 tools and 500 calls through `client.tools`, and the same calls
 * through `callTool`, which checks neither names nor arguments.
 *
 * Method: one process compiles both programs alternately, after one compilation of each as a warm-up, and prints the
 * medians. The tools have zod schemas for input and output. The packages are read from their built declarations. A test
 * limits the number of types that the compiler creates. Not measured: editors, and the emission of declarations.
 */
export async function run({ quick }: { quick: boolean }): Promise<void> {
  const seconds: Record<CallForm, number[]> = { untyped: [], typed: [] }
  const instantiations: Record<CallForm, number> = { untyped: 0, typed: 0 }
  for (let round = 0; round <= (quick ? 3 : 7); round++) {
    for (const form of ['untyped', 'typed'] as const) {
      const cost = compileCalls(tools, form)
      instantiations[form] = cost.instantiations
      if (round > 0) seconds[form].push(cost.cpuSeconds)
    }
  }
  const [untyped, typed] = [median(seconds.untyped), median(seconds.typed)]
  print('through callTool', untyped, instantiations.untyped)
  print('through client.tools', typed, instantiations.typed)
  process.stdout.write(`${tools} typed tools and calls take ${(typed - untyped).toFixed(2)} s more of at most 2 s\n`)
}

function print(form: string, seconds: number, instantiations: number): void {
  const counted = instantiations.toLocaleString('en')
  process.stdout.write(`${tools} tools and calls ${form.padEnd(20)} ${seconds.toFixed(2)} s CPU, ${counted} types\n`)
}
