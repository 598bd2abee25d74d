import { randomFrom } from '@tooling/vitest/random'
import type { SimulationOptions } from './options.ts'
import type { HandOffReport } from './policy.ts'

/** A simulated call. */
export interface SimulatedCall {
  readonly id: number
  readonly salt: number
  /** The number of chunks of work. */
  readonly length: number
  readonly waits: boolean
  readonly startedAt: number
  done: number
  /** The content of its journal. */
  sheds: number
  handOff: HandOffReport | undefined
  /** The number of hand-offs in succession. */
  rounds: number
  idleMs: number
  /** The instance of the call, or undefined between instances. */
  at: object | undefined
  /** The time of its arrival there. */
  workedFrom: number
}

/** The calls of a simulation, and the times of their chunks. */
export interface Workload {
  create(startedAt: number, length?: number): SimulatedCall
  /** Returns the time of one chunk, which is the same for each repetition. */
  costOf(call: SimulatedCall, chunk: number): number
  /** Returns true if the call waits after a chunk. */
  waitsAfter(call: SimulatedCall, chunk: number): boolean
  /** Returns the time in milliseconds until the next call. */
  gap(factor: number): number
}

/**
 * Lengths of calls are Pareto distributed, from 12 to 3000 chunks, and times of chunks are log-normal: a few calls make
 * most of the work.
 */
const pareto = { least: 12, most: 3000, alpha: 1.2 }

/** The share of chunks after which a call waits that waits between chunks. */
const waitShare = 0.1

/** Creates the workload of a seed. */
export function createWorkload(options: SimulationOptions): Workload {
  const random = randomFrom(options.seed * 7919)
  const table = chunkTable(options)
  const waitBelow = Float64Array.from(table).sort()[Math.floor(waitShare * (table.length - 1))] ?? 0
  const perMs = (options.share * options.instances) / meanWork(options)
  const at = (salt: number, chunk: number): number => table[(salt + chunk * 2_654_435_761) & 4095] ?? 0
  let nextId = 0
  return {
    create(startedAt, length) {
      const salt = Math.floor(random() * 1e9)
      const chunks = length ?? lengthOf(options, random)
      const waits = random() < options.waitingCalls
      const fresh = {
        done: 0,
        sheds: 0,
        handOff: undefined,
        rounds: 0,
        idleMs: 0,
        at: undefined,
        workedFrom: 0,
      }
      return { id: nextId++, salt, length: chunks, waits, startedAt, ...fresh }
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
