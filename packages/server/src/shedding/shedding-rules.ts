import { type OptionTable, resolveOptions } from '@x/core'
import type { StateCodec } from '@x/state-codec'
import type { HardLimit, Load, SheddingOptions, SheddingSettings } from './shedding-options.ts'

/** The options of shedding, completed by defaults. */
export interface SheddingRules {
  readonly calls: 'resumable' | 'all' | 'none'
  readonly policy: SheddingSettings['policy']
  /** At this load an instance sheds calls. */
  readonly limits: LoadLimits
  /** At this load its log says that the load is too high. */
  readonly reportLimits: LoadLimits
  readonly minWorkMs: number
  readonly handOffBudget: number
  /** At this load an instance refuses new calls. */
  readonly hardLimits: Readonly<Record<keyof HardLimit, number>>
  readonly retryAfterMs: number
}

export type LoadLimits = Readonly<Record<keyof Load, number>>

const noLimit = Number.POSITIVE_INFINITY

const hardLimitTable = {
  // limit: `shedding.hardLimit.running` | count | running calls | 503
  running: { default: noLimit, isWhole: false },
  eventLoopDelayMs: { default: noLimit, isWhole: false },
} satisfies OptionTable<HardLimit>

export const sheddingOptionTable = {
  load: undefined,
  hardLimit: { default: {}, group: hardLimitTable },
} satisfies OptionTable<SheddingOptions>

const defaults = {
  /** Only calls whose state another instance can open; others would lose their work. */
  calls: 'resumable',
  /** No number of calls suits every tool. An author who knows one sets `hardLimit.running`. */
  maxRunningCalls: noLimit,
  /** A timer is this late only while handlers compete for the event loop. */
  // limit: a late event loop | ms | the delay of the event loop | calls move to other instances
  maxEventLoopDelayMs: 25,
  /** Above this share a process spends much of its time on garbage collection. */
  // limit: a full heap | share | the used heap | calls move to other instances
  maxHeapShare: 0.85,
  /** A shorter call would end before a hand-off could help. */
  // limit: work before a move | ms | the time at an instance in which a call does not move because of load | the call
  //   may move
  minWorkMs: 500,
  /** Most clients give up after ten results that are not final, and some of these ten are for questions. */
  // limit: moves of a call | count | moves of one call because of load, its rounds after the third, and its moves by
  //   stopping instances after the second, together | the call stays
  budget: 5,
  /** As long as ten measurements take, which shows whether the load falls. */
  retryAfterMs: 1000,
} satisfies SheddingSettings

/**
 * Limits of reports are this many times those of shedding. The heap's has no report, because four times its limit is
 * more than the heap.
 */
const reportFactor = 4

/** A registered symbol is the same in two copies of the package, and the check for unknown options ignores symbols. */
const settingsKey = Symbol.for('@x/server.sheddingSettings')

/** Replaces the rules of hand-offs, for tests and for the demonstration of load shedding. */
export function sheddingSettings(settings: SheddingSettings): SheddingOptions {
  const { load, hardLimit } = settings
  return Object.assign({ load, hardLimit }, { [settingsKey]: settings })
}

function settingsOf(options: SheddingOptions): SheddingSettings {
  const settings: SheddingSettings | undefined = Reflect.get(options, settingsKey)
  return { ...settings, ...options }
}

/** Throws a RangeError for an invalid hard limit. */
export function sheddingRulesOf(
  shedding: false | SheddingOptions = {},
  stateCodec: StateCodec | false | undefined,
): SheddingRules {
  const settings = { ...defaults, ...(shedding === false ? {} : settingsOf(shedding)) }
  const { maxRunningCalls: running, maxEventLoopDelayMs: eventLoopDelayMs, maxHeapShare: heapShare } = settings
  return {
    calls: shedding === false ? 'none' : sheddableCallsOf(settings, stateCodec),
    policy: settings.policy,
    limits: { running, eventLoopDelayMs, heapShare },
    reportLimits: { running: running * reportFactor, eventLoopDelayMs: eventLoopDelayMs * reportFactor, heapShare },
    minWorkMs: settings.minWorkMs,
    handOffBudget: settings.budget,
    hardLimits: compileHardLimits(settings),
    retryAfterMs: settings.retryAfterMs,
  }
}

function compileHardLimits({ load, hardLimit }: SheddingOptions): SheddingRules['hardLimits'] {
  const table = { shedding: { default: {}, group: sheddingOptionTable } }
  return resolveOptions({ shedding: { load, hardLimit } }, table, 'createServer').shedding.hardLimit
}

/**
 * Without a configured codec no call may be handed off, because no other instance could open a state that this one
 * sealed.
 */
function sheddableCallsOf(
  { calls }: SheddingSettings,
  stateCodec: StateCodec | false | undefined,
): SheddingRules['calls'] {
  if (calls === 'all') return 'all'
  return stateCodec === undefined || stateCodec === false ? 'none' : 'resumable'
}
