import { median } from '../median.ts'

/** The measurement of one server. */
export interface StreamMeasurement {
  readonly name: string
  /** Bytes per stream, of the heap and of the resident memory. */
  readonly heapBytes: number
  readonly residentBytes: number
  /**
   * Milliseconds until the last client received a change, and microseconds of CPU of the server per stream. Both have
   * one entry per round.
   */
  readonly milliseconds: readonly number[]
  readonly cpuMicroseconds: readonly number[]
}

/** Formats a line per server: the memory of a stream and the cost of a change, with ratios to the floor. */
export function reportLines(measured: readonly StreamMeasurement[]): readonly string[] {
  const [floor] = measured
  if (floor === undefined) throw new Error('there are no measurements: pass the floor first')
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

/** Formats the median of the ratios of all rounds. */
function ratio(own: readonly number[], floor: readonly number[]): string {
  return `${median(own.map((value, round) => value / (floor[round] ?? Number.NaN))).toFixed(2)} x`
}
