import { optionsOf, print } from './benchmark.ts'
import { benchmarks } from './benchmarks.ts'
import { ratioTable } from './ratios/ratio-table.ts'
import type { Reading } from './wanted.ts'

/** Measures every ratio of which something is wanted, and prints them once more as a table in Markdown. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  const readings: Reading[] = []
  for (const benchmark of benchmarks) readings.push(...(await benchmark.measure(optionsOf(options))))
  print('')
  for (const line of ratioTable(readings)) print(line)
}
