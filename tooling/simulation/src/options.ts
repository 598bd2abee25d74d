import type { SheddingSettings } from './policy.ts'

/** The method by which the balancer chooses an instance. */
export type Balancer = 'round-robin' | 'hash' | 'cluster'

/**
 * The placement of calls: the server hands them off, they stay at their instance, or an oracle that knows all loads
 * moves them without a cost.
 */
export type Mode = 'shedding' | 'none' | 'oracle'

/** An event of the fleet. `at` is in milliseconds after the warm-up. */
export type FleetEvent =
  | { readonly at: number; readonly kind: 'slow'; readonly instance: number; readonly by: number }
  | {
      readonly at: number
      readonly kind: 'heavy'
      readonly instance: number
      readonly calls: number
      readonly chunks: number
    }

/** A planned call: its time, and its number of chunks of work. */
export interface PlannedCall {
  readonly at: number
  readonly chunks: number
}

/** The options of one simulation. Times are in milliseconds. */
export interface SimulationOptions {
  readonly instances: number
  readonly balancer: Balancer
  readonly mode: Mode
  readonly seed: number
  /** The load of new calls, as a share of the capacity of the fleet. */
  readonly share: number
  /** Returns the factor of the rate of calls at a time after the warm-up. */
  readonly rate: (time: number) => number
  readonly events: readonly FleetEvent[]
  /**
   * The calls, in the order of their times after the warm-up. By default calls are generated with the rate and the
   * share.
   */
  readonly calls: readonly PlannedCall[] | undefined
  /** Options of the server's shedding that differ from their defaults. */
  readonly shedding: SheddingSettings
  readonly warmMs: number
  readonly loadMs: number
  /** True for calls of the length of the demo: 20 chunks, or 120 for one in four. */
  readonly demo: boolean
  /** The mean time of a chunk of work, and the sigma of its distribution. */
  readonly chunkMs: number
  readonly chunkSigma: number
  /** The share of calls that wait between chunks. */
  readonly waitingCalls: number
  /** Receives every hand-off. */
  readonly onHandOff: (handOff: { readonly call: number; readonly from: number; readonly time: number }) => void
}

/** Settings of a scenario. */
export type Scenario = (instances: number) => Partial<SimulationOptions>

const normalLoad = { share: 0.6 }

/** The seven scenarios for the evaluation of a policy. */
export const scenarios = {
  'steady 60 %': () => normalLoad,
  'steady 80 %': () => ({ share: 0.8 }),
  'steady 95 %': () => ({ share: 0.95 }),
  'burst x3 for 20 s': () => ({ share: 0.6, rate: (time) => (time >= 15_000 && time < 35_000 ? 3 : 1) }),
  'one slow x4': (instances) => ({
    ...normalLoad,
    events: tenth(instances).flatMap((instance) => [
      { at: 15_000, kind: 'slow', instance, by: 4 } as const,
      { at: 45_000, kind: 'slow', instance, by: 1 } as const,
    ]),
  }),
  'heavy calls land': (instances) => ({
    ...normalLoad,
    events: tenth(instances).map(
      (instance) => ({ at: 15_000, kind: 'heavy', instance, calls: 12, chunks: 400 }) as const,
    ),
  }),
  'overload 130 %': () => ({ share: 1.3 }),
} as const satisfies Record<string, Scenario>

/** The name of a scenario. */
export type ScenarioName = keyof typeof scenarios

const defaults: SimulationOptions = {
  instances: 10,
  balancer: 'round-robin',
  mode: 'shedding',
  seed: 1,
  share: 0.6,
  rate: () => 1,
  events: [],
  calls: undefined,
  shedding: {},
  warmMs: 5000,
  loadMs: 60_000,
  demo: false,
  chunkMs: 5,
  chunkSigma: 1,
  waitingCalls: 0.3,
  onHandOff: () => {},
}

/** Adds the options of the scenario and the defaults. Given options take precedence. */
export function optionsOf(given: Partial<SimulationOptions>, scenario?: ScenarioName): SimulationOptions {
  const instances = given.instances ?? defaults.instances
  return { ...defaults, ...(scenario && scenarios[scenario](instances)), ...given }
}

function tenth(instances: number): number[] {
  return Array.from({ length: Math.max(1, Math.round(instances / 10)) }, (_, index) => index)
}
