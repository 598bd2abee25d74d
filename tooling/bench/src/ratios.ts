import { optionsOf, print } from './gauge.ts'
import { gauges } from './gauges.ts'
import { ratioTable } from './ratios/ratio-table.ts'
import type { Reading } from './wanted.ts'

/** Measures every ratio of which something is wanted, and prints them once more as a table in Markdown. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  const readings: Reading[] = []
  for (const gauge of gauges) readings.push(...(await gauge.measure(optionsOf(options))))
  print('')
  for (const line of ratioTable(readings)) print(line)
}
