import { median } from '../median.ts'
import type { Loaded } from './loaded-files.ts'
import type { Start } from './start-server.ts'

/** The starts of a round, by the name of the server. */
export type Round = ReadonlyMap<string, Start>

/** Formats a line per server: the time to the first response, and the ratio to the floor in the same round. */
export function startLines(rounds: readonly Round[]): readonly string[] {
  return [...(rounds[0]?.keys() ?? [])].map((name) => {
    const own = rounds.map((round) => find(round, name))
    const floor = rounds.map((round) => find(round, 'floor'))
    const times = own.map(({ milliseconds }) => milliseconds)
    const ratios = times.map((time, round) => time / (floor[round]?.milliseconds ?? Number.NaN))
    return [
      name.padEnd(26),
      `${median(times).toFixed(0).padStart(4)} ms (${minimum(times, 0)} to ${maximum(times, 0)})`.padEnd(22),
      `${median(ratios).toFixed(2)} x the floor (${minimum(ratios, 2)} to ${maximum(ratios, 2)})`,
      cpuOf(own, floor),
    ]
      .join('  ')
      .trimEnd()
  })
}

/** Formats a line for all loaded files, and a line for each package. */
export function loadedLines(name: string, loaded: ReadonlyMap<string, Loaded>): readonly string[] {
  const all = [...loaded.values()]
  const files = all.reduce((sum, one) => sum + one.files, 0)
  const bytes = all.reduce((sum, one) => sum + one.bytes, 0)
  const rows = [...loaded].toSorted(([, a], [, b]) => b.files - a.files)
  return [
    `${name} loads ${files} files, ${kilobytes(bytes)} KB`,
    ...rows.map(
      ([owner, own]) => `  ${owner.padEnd(26)} ${String(own.files).padStart(4)} files ${kilobytes(own.bytes)} KB`,
    ),
  ]
}

/** The time of a whole start, and the times of its imports in another process, in milliseconds. */
export interface PartsOfStart {
  readonly whole: number
  readonly times: ReadonlyMap<string, number>
}

/**
 * Formats a line per import with its median time. The last line is the remaining time of the start: to create the
 * server, to listen and to answer the call.
 */
export function importLines(rounds: readonly PartsOfStart[]): readonly string[] {
  const rests = rounds.map(({ whole, times }) => whole - [...times.values()].reduce((sum, time) => sum + time, 0))
  const names = [...(rounds[0]?.times.keys() ?? [])]
  const rows = names.map((name) => [name, rounds.map(({ times }) => times.get(name) ?? 0)] as const)
  return [...rows, ['to make the server and answer', rests] as const].map(
    ([name, values]) => `  ${name.padEnd(30)} ${median(values).toFixed(1).padStart(6)} ms`,
  )
}

function find(round: Round, name: string): Start {
  const found = round.get(name)
  if (found === undefined) throw new Error(`a round has no start of ${name}: every round starts every server`)
  return found
}

function cpuOf(own: readonly Start[], floor: readonly Start[]): string {
  const ratios: number[] = []
  for (const [round, { cpuMilliseconds: ownCpu }] of own.entries()) {
    const floorCpu = floor[round]?.cpuMilliseconds
    if (ownCpu !== undefined && floorCpu !== undefined) ratios.push(ownCpu / floorCpu)
  }
  return ratios.length === 0 ? '' : `${median(ratios).toFixed(2)} x its CPU`
}

function minimum(values: readonly number[], digits: number): string {
  return Math.min(...values).toFixed(digits)
}

function maximum(values: readonly number[], digits: number): string {
  return Math.max(...values).toFixed(digits)
}

function kilobytes(bytes: number): string {
  return Math.round(bytes / 1000)
    .toString()
    .padStart(5)
}
