import { optionsOf, print } from './benchmark.ts'
import { benchmarks } from './benchmarks.ts'
import { ratioTable } from './ratios/ratio-table.ts'
import type { Reading } from './wanted.ts'

/** Measures every ratio that has a wanted value, and prints all of them again as a Markdown table. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  const readings: Reading[] = []
  for (const benchmark of benchmarks) readings.push(...(await benchmark.measure(optionsOf(options))))
  print('')
  for (const line of ratioTable(readings)) print(line)
}
