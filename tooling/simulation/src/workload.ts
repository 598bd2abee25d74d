import { randomFrom } from '@tooling/vitest/random'
import type { SimulationOptions } from './options.ts'
import type { HandOffTag } from './policy.ts'

/** A call on its way through the fleet. */
export interface SimulatedCall {
  readonly id: number
  readonly salt: number
  /** Number of chunks of work. */
  readonly length: number
  readonly waits: boolean
  readonly born: number
  done: number
  /** Content of its journal. */
  sheds: number
  stops: number
  handOff: HandOffTag | undefined
  /** Number of times in a row that its client was answered with state alone. */
  rounds: number
  idleMs: number
  /** At which instance it is, if it is at one. */
  at: object | undefined
  /** Number of stops of that instance when it came, and the time since when it works there. */
  drains: number
  workedFrom: number
}

/** The calls of a simulation, and how long each piece of them computes. */
export interface Workload {
  create(born: number, length?: number): SimulatedCall
  /** The time of one chunk, the same each time that it is done. */
  costOf(call: SimulatedCall, chunk: number): number
  /** True when the call waits for something else after a chunk. */
  waitsAfter(call: SimulatedCall, chunk: number): boolean
  /** Milliseconds to the next call. */
  gap(factor: number): number
}

/** Calls are Pareto distributed, from 12 to 3000 chunks, and chunks log-normal: a few calls are most of the work. */
const pareto = { least: 12, most: 3000, alpha: 1.2 }

/** Makes the calls of a seed. */
export function createWorkload(options: SimulationOptions): Workload {
  const random = randomFrom(options.seed * 7919)
  const table = chunkTable(options)
  const waitBelow = Float64Array.from(table).sort()[Math.floor(options.waitShare * (table.length - 1))] ?? 0
  const perMs = (options.share * options.instances * options.speed) / meanWork(options)
  const at = (salt: number, chunk: number): number => table[(salt + chunk * 2_654_435_761) & 4095] ?? 0
  let nextId = 0
  return {
    create(born, length) {
      const salt = Math.floor(random() * 1e9)
      const chunks = length ?? lengthOf(options, random)
      const waits = random() < options.waitingCalls
      const fresh = {
        done: 0,
        sheds: 0,
        stops: 0,
        handOff: undefined,
        rounds: 0,
        idleMs: 0,
        at: undefined,
        drains: 0,
        workedFrom: 0,
      }
      return { id: nextId++, salt, length: chunks, waits, born, ...fresh }
    },
    costOf: ({ salt }, chunk) => at(salt, chunk),
    waitsAfter: ({ salt, waits }, chunk) => waits && at(salt, chunk + 7777) <= waitBelow,
    gap: (factor) => -Math.log(1 - random()) / (perMs * factor),
  }
}

function chunkTable({ chunkMs, chunkSigma }: SimulationOptions): Float64Array {
  const random = randomFrom(77)
  return Float64Array.from({ length: 4096 }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    return Math.max(0.2, chunkMs * Math.exp(chunkSigma * normal - chunkSigma ** 2 / 2))
  })
}

function lengthOf({ demo }: SimulationOptions, random: () => number): number {
  if (demo) return random() * 4 < 1 ? 120 : 20
  const { least, most, alpha } = pareto
  return Math.round((least ** -alpha - random() * (least ** -alpha - most ** -alpha)) ** (-1 / alpha))
}

const samples = 50_000

function meanWork(options: SimulationOptions): number {
  const random = randomFrom(5)
  let sum = 0
  for (let index = 0; index < samples; index++) sum += lengthOf(options, random)
  return (sum / samples) * options.chunkMs
}
