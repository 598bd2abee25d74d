import { median } from '../median.ts'

/** What was measured of one server. */
export interface StreamMeasurement {
  readonly name: string
  /** Bytes that a stream takes of the heap, and of the whole process. */
  readonly heapBytes: number
  readonly residentBytes: number
  /**
   * One entry a round: milliseconds until the last client had a change, and microseconds of the server's CPU for a
   * stream.
   */
  readonly milliseconds: readonly number[]
  readonly cpuMicroseconds: readonly number[]
}

/** A line per server: what a stream takes and what a change costs, beside the first of them, the floor. */
export function reportLines(measured: readonly StreamMeasurement[]): readonly string[] {
  const [floor] = measured
  if (floor === undefined) throw new Error('nothing was measured: give the floor first')
  return measured.map((one) =>
    [
      one.name.padEnd(6),
      `${kilobytes(one.heapBytes)} KB heap/stream (${ratio([one.heapBytes], [floor.heapBytes])})`,
      `${kilobytes(one.residentBytes)} KB RSS/stream (${ratio([one.residentBytes], [floor.residentBytes])})`,
      `a change ${median(one.milliseconds).toFixed(1).padStart(6)} ms (${ratio(one.milliseconds, floor.milliseconds)})`,
      `${median(one.cpuMicroseconds).toFixed(1).padStart(5)} us CPU/stream (${ratio(one.cpuMicroseconds, floor.cpuMicroseconds)})`,
    ].join('  '),
  )
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1).padStart(5)
}

/** The median of the ratios that were taken within one round each. */
function ratio(own: readonly number[], floor: readonly number[]): string {
  return `${median(own.map((value, round) => value / (floor[round] ?? Number.NaN))).toFixed(2)} x`
}
