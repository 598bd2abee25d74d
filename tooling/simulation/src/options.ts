import type { SheddingSettings } from './policy.ts'

/** The chooser of a request's instance. */
export type Balancer = 'round-robin' | 'random' | 'least-connections' | 'hash' | 'cluster'

/**
 * The calls hand themselves off as the server decides, stay where they are, or are moved at no cost by an oracle that
 * knows all loads.
 */
export type Mode = 'shedding' | 'none' | 'oracle'

/** Something that happens to the fleet, in milliseconds after the warm-up. */
export type FleetEvent =
  | { readonly at: number; readonly kind: 'slow'; readonly instance: number; readonly by: number }
  | {
      readonly at: number
      readonly kind: 'heavy'
      readonly instance: number
      readonly calls: number
      readonly chunks: number
    }
  | { readonly at: number; readonly kind: 'drain'; readonly instance: number }
  /** All instances are replaced so many times, each as soon as the one before has started. */
  | { readonly at: number; readonly kind: 'deploy'; readonly instance: 0; readonly times: number }
  | { readonly at: number; readonly kind: 'kill'; readonly instance: number; readonly downMs: number }

/** A call that is given: when its client sends it, and its chunks of work. */
export interface GivenCall {
  readonly at: number
  readonly chunks: number
}

/** The times of a stop, in milliseconds. */
export interface StopTimes {
  /** Until the balancer notices that an instance stops. */
  readonly noticedMs: number
  /** Then, until calls that still run there are lost. */
  readonly graceMs: number
  /** Until another process takes its place. */
  readonly downMs: number
  /** True when the process ends as soon as no call runs there. */
  readonly endsWhenIdle: boolean
}

/** One simulation. Times are milliseconds. */
export interface SimulationOptions {
  readonly instances: number
  readonly balancer: Balancer
  readonly mode: Mode
  readonly seed: number
  /** Of the capacity of the fleet, what new calls need. */
  readonly share: number
  /** By how much the rate of calls is multiplied at a time after the warm-up. */
  readonly rate: (time: number) => number
  readonly events: readonly FleetEvent[]
  /** The calls, in the order of their times after the warm-up; of the rate and the share when absent. */
  readonly calls: readonly GivenCall[] | undefined
  /** Options of the server's shedding that differ from what it has by itself. */
  readonly shedding: SheddingSettings
  readonly warmMs: number
  readonly loadMs: number
  readonly tailMs: number
  /** True when the balancer leaves out instances whose readiness says 503, looking once a second. */
  readonly healthChecks: boolean
  /** Calls are as long as in the demo: 20 chunks, or 120 for one in four. */
  readonly demo: boolean
  /** The mean time of a chunk of work, and how it spreads. */
  readonly chunkMs: number
  readonly chunkSigma: number
  /** The share of calls that wait now and then. */
  readonly waitingCalls: number
  /** The share of their chunks after which they do, and for how long on the average. */
  readonly waitShare: number
  readonly waitMs: number
  /** True when the balancer chooses also instances that refuse calls or are down. */
  readonly isBlind: boolean
  readonly stops: StopTimes
  /** Receives every hand-off. */
  readonly onHandOff: (handOff: { readonly call: number; readonly from: number; readonly time: number }) => void
  /** Of each instance; below 1 where instances share cores. */
  readonly speed: number
}

/** Settings of a scenario. */
export type Scenario = (instances: number) => Partial<SimulationOptions>

const usual = { share: 0.6 }

/** The nine scenarios that a policy is judged by. */
export const scenarios = {
  'steady 60 %': () => usual,
  'steady 80 %': () => ({ share: 0.8 }),
  'steady 95 %': () => ({ share: 0.95 }),
  'burst x3 for 20 s': () => ({ share: 0.6, rate: (time) => (time >= 15_000 && time < 35_000 ? 3 : 1) }),
  'one slow x4': (instances) => ({
    ...usual,
    events: tenth(instances).flatMap((instance) => [
      { at: 15_000, kind: 'slow', instance, by: 4 } as const,
      { at: 45_000, kind: 'slow', instance, by: 1 } as const,
    ]),
  }),
  'heavy calls land': (instances) => ({
    ...usual,
    events: tenth(instances).map(
      (instance) => ({ at: 15_000, kind: 'heavy', instance, calls: 12, chunks: 400 }) as const,
    ),
  }),
  'rolling deploy': (instances) => ({ ...usual, events: deploy(instances) }),
  'a third killed': (instances) => ({
    ...usual,
    events: first(Math.ceil(instances / 3)).map(
      (instance) => ({ at: 20_000, kind: 'kill', instance, downMs: 20_000 }) as const,
    ),
  }),
  'overload 130 %': () => ({ share: 1.3 }),
} as const satisfies Record<string, Scenario>

/** 64 calls of 35 seconds at four instances, which are replaced three times without a pause. */
const deployments: Partial<SimulationOptions> = {
  instances: 4,
  balancer: 'least-connections',
  calls: Array.from({ length: 64 }, (_, index) => ({ at: index * 50, chunks: 350 })),
  chunkMs: 1,
  waitingCalls: 1,
  waitShare: 1,
  waitMs: 99,
  loadMs: 30_000,
  stops: { noticedMs: 1000, graceMs: 10_000, downMs: 1000, endsWhenIdle: true },
  events: [{ at: 4000, kind: 'deploy', instance: 0, times: 3 }],
}

/** Repeated deployments under long calls: no call may be lost, and no client may give up. */
export const deploymentRows: Readonly<Record<string, Partial<SimulationOptions>>> = {
  'long calls, 3 deployments, health checks': deployments,
  'long calls, 3 deployments, no health checks': {
    ...deployments,
    balancer: 'round-robin',
    isBlind: true,
    stops: { noticedMs: 0, graceMs: 10_000, downMs: 1000, endsWhenIdle: true },
  },
}

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
  tailMs: 120_000,
  healthChecks: false,
  demo: false,
  chunkMs: 5,
  chunkSigma: 1,
  waitingCalls: 0.3,
  waitShare: 0.1,
  waitMs: 60,
  isBlind: false,
  stops: { noticedMs: 1000, graceMs: 4000, downMs: 1000, endsWhenIdle: false },
  onHandOff: () => {},
  speed: 1,
}

/** Fills in what is absent; what is given goes before what the scenario sets. */
export function optionsOf(given: Partial<SimulationOptions>, scenario?: ScenarioName): SimulationOptions {
  const instances = given.instances ?? defaults.instances
  return { ...defaults, ...(scenario && scenarios[scenario](instances)), ...given }
}

function first(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

function tenth(instances: number): number[] {
  return first(Math.max(1, Math.round(instances / 10)))
}

/** Each instance is replaced, in eight waves. */
function deploy(instances: number): FleetEvent[] {
  const wave = Math.max(1, Math.ceil(instances / 8))
  return first(instances).map((instance) => ({
    at: 10_000 + Math.floor(instance / wave) * 6500,
    kind: 'drain',
    instance,
  }))
}
