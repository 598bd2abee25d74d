import { median } from '../median.ts'
import type { Latencies, Throughput } from './measure.ts'
import type { RoundTrip } from './round-trips.ts'
import { reference } from './runner.ts'

/** Formats a line per implementation: medians over the rounds, and ratios to the reference if it was measured. */
export function throughputLines(title: string, rounds: readonly (readonly Throughput[])[]): readonly string[] {
  return columnsOf(rounds).map((own, _, all) => {
    const { name = '' } = own[0] ?? {}
    const other = name === reference ? undefined : all.find(([first]) => first?.name === reference)
    return row(title, name, [
      `${formatNumber(median(own.map(({ perSecond }) => perSecond)))}/s`,
      `${formatNumber(median(own.map(({ cpuPerOne }) => cpuPerOne)))} us CPU`,
      other && ratioToReference(ratios(own, other, ({ perSecond }) => perSecond)),
      other && `${median(ratios(own, other, ({ cpuPerOne }) => cpuPerOne)).toFixed(2)} x its CPU`,
    ])
  })
}

/** The latencies of one implementation, with one list per round. */
export interface LatencyColumn {
  readonly name: string
  readonly rounds: readonly (readonly number[])[]
}

/** Formats a line per column: p50 and p99 over all rounds, and the ratio of the p50 of a round to that of `other`. */
export function latencyLines(
  title: string,
  columns: readonly LatencyColumn[],
  other?: LatencyColumn | undefined,
): readonly string[] {
  return columns.map((column) => {
    const all = column.rounds.flat()
    const cells = [`p50 ${milliseconds(percentile(all, 0.5))}`, `p99 ${milliseconds(percentile(all, 0.99))}`]
    if (other === undefined || other === column) return row(title, column.name, cells)
    const shares = ratios(column.rounds, other.rounds, (round) => percentile(round, 0.5))
    return row(title, column.name, [...cells, ratioToReference(shares)])
  })
}

/** Returns the columns of the time until handlers begin, from the request and from the response. */
export function startColumns(rounds: readonly (readonly Latencies[])[]): {
  readonly fromSending: readonly LatencyColumn[]
  readonly fromAnswer: readonly LatencyColumn[]
} {
  const columns = columnsOf(rounds).map((own) => ({ name: own[0]?.name ?? '', own }))
  return {
    fromSending: columns.map(({ name, own }) => ({ name, rounds: own.map(({ fromSending }) => fromSending) })),
    fromAnswer: columns.map(({ name, own }) => ({ name, rounds: own.map(({ fromAnswer }) => fromAnswer) })),
  }
}

/** Formats a line per variant of the call: medians over the rounds, and ratios to the first one, the plain call. */
export function roundTripLines(title: string, rounds: readonly (readonly RoundTrip[])[]): readonly string[] {
  const [plain = [], ...rest] = columnsOf(rounds)
  return [plain, ...rest].map((own) => {
    const times = ratios(own, plain, ({ milliseconds: took }) => took)
    const costs = ratios(own, plain, ({ cpuPerCall }) => cpuPerCall)
    return row(title, own[0]?.name ?? '', [
      milliseconds(median(own.map(({ milliseconds: took }) => took))),
      `${formatNumber(median(own.map(({ cpuPerCall }) => cpuPerCall)))} us CPU`,
      `${formatNumber(median(times))} x (${formatNumber(Math.min(...times))} to ${formatNumber(Math.max(...times))})`,
      `${formatNumber(median(costs))} x its CPU`,
    ])
  })
}

/** Returns the smallest value that the given share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const found = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (found === undefined)
    throw new RangeError('the percentile of an empty list is undefined: pass at least one number')
  return found
}

/** Groups the measurements by implementation, with one entry per round. */
function columnsOf<T extends { readonly name: string }>(rounds: readonly (readonly T[])[]): readonly (readonly T[])[] {
  const names = new Set(rounds.flat().map(({ name }) => name))
  return [...names].map((name) => rounds.flatMap((round) => round.filter((one) => one.name === name)))
}

/** Returns the ratio of each round. */
function ratios<T>(own: readonly T[], other: readonly T[], of: (one: T) => number): readonly number[] {
  return own.flatMap((one, round) => {
    const counterpart = other[round]
    return counterpart === undefined ? [] : [of(one) / of(counterpart)]
  })
}

function ratioToReference(shares: readonly number[]): string {
  const [min, max] = [Math.min(...shares), Math.max(...shares)]
  return `${median(shares).toFixed(2)} x ${reference} (${min.toFixed(2)} to ${max.toFixed(2)})`
}

const widths = [14, 16, 34, 16]

function row(title: string, name: string, cells: readonly (string | undefined)[]): string {
  const columns = cells.map((cell = '', index) => cell.padStart(widths[index] ?? 0))
  return `  ${title.padEnd(40)}${name.padEnd(28)}${columns.join('')}`.trimEnd()
}

function milliseconds(value: number): string {
  return `${value.toFixed(Math.abs(value) < 10 ? 2 : 1)} ms`
}

/** Formats a number below 10 with two decimals, and others as integers. */
function formatNumber(value: number): string {
  return value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString('en')
}
