import type { Gauge, MeasureOptions, Timing } from '../gauge.ts'
import { limitText, passes, type RatioId, type Reading, wantedText } from '../wanted.ts'

/** How ratios are held. */
export interface HoldOptions {
  /** The ratios that are held; a benchmark that has none of them is not run. */
  readonly ids: readonly RatioId[]
  readonly short: Timing
  /** For ratios that failed: they are measured once more, since a machine may have been busy. */
  readonly long: Timing
  /** Takes each line of the report. */
  readonly print: (line: string) => void
}

/** Measures ratios, and says whether each of them is near enough to what is wanted of it. */
export async function holdRatios(gauges: readonly Gauge[], options: HoldOptions): Promise<boolean> {
  const { short, long, print } = options
  const failed: Reading[] = []
  for (const gauge of gauges) {
    const ids = gauge.ids.filter((id) => options.ids.includes(id))
    const suspects = await measureFailing(gauge, { only: ids, timing: short, print })
    if (suspects.length > 0) print(`  once more, with longer rounds: ${suspects.map(({ id }) => id).join(', ')}`)
    failed.push(...(await measureFailing(gauge, { only: suspects.map(({ id }) => id), timing: long, print })))
  }
  for (const reading of failed) print(failureLine(reading))
  return failed.length === 0
}

/** Those of the ratios that do not pass. */
async function measureFailing(
  gauge: Gauge,
  { only, timing, print }: MeasureOptions & { readonly only: readonly RatioId[] },
): Promise<readonly Reading[]> {
  if (only.length === 0) return []
  const readings = await gauge.measure({ only, timing, print: () => {} })
  const missing = only.filter((asked) => !readings.some(({ id }) => id === asked))
  if (missing.length > 0)
    throw new Error(`no reading of ${missing.join(', ')}: a benchmark gives every ratio that it has`)
  for (const reading of readings) print(heldLine(reading))
  return readings.filter((reading) => !passes(reading))
}

function heldLine(reading: Reading): string {
  const { id, value, ours, floor } = reading
  const columns = [
    passes(reading) ? '  ok  ' : '  LOW ',
    id.padEnd(16),
    value.toFixed(2).padStart(6),
    `wanted ${wantedText(id)}`,
    `fails ${limitText(id)}`,
    `${ours} beside ${floor}`,
  ]
  return columns.join('  ')
}

function failureLine({ id, value, ours, floor }: Reading): string {
  return `FAILED ${id}: ${value.toFixed(2)} (${ours} beside ${floor}); wanted is ${wantedText(id)}, and ${limitText(id)} this fails`
}
