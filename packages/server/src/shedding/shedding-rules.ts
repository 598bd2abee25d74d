import { checkedNumber } from '@x/core'
import type { StateCodec } from '@x/state-codec'
import type { SheddingOptions, SheddingSettings } from './shedding-options.ts'

/** The options of shedding, with what is absent filled in. */
export interface SheddingRules {
  readonly calls: 'resumable' | 'all' | 'none'
  readonly policy: SheddingSettings['policy']
  readonly limits: LoadLimits
  readonly readinessLimits: LoadLimits
  readonly minWorkMs: number
  readonly handOffBudget: number
  readonly hardLimits: ResolvedHardLimits
  readonly retryAfterMs: number
  readonly onShed: NonNullable<SheddingOptions['onShed']>
}

/** From where on an instance sheds, or is not ready. */
export interface LoadLimits {
  readonly running: number
  readonly eventLoopDelayMs: number
  readonly heapShare: number
}

/** From where on an instance refuses. */
export interface ResolvedHardLimits {
  readonly running: number
  readonly eventLoopDelayMs: number
}

const noLimit = Number.POSITIVE_INFINITY

const defaults = {
  /** Only calls whose retry another instance can open: others would lose their work. */
  calls: 'resumable',
  /** No number of calls fits every tool. An author who knows one gives `hardLimit.running`. */
  maxRunningCalls: noLimit,
  /** A timer is later than this only while handlers compete for the event loop. */
  maxEventLoopDelayMs: 25,
  /** Above it a process spends much of its time on collecting garbage. */
  maxHeapShare: 0.85,
  /** A shorter call ends before a hand-off would help it. */
  minWorkMs: 500,
  /** Most clients give up after ten results that are not final, and questions need some of them. */
  budget: 5,
  /** Ten measurements of the load: long enough to see whether it falls. */
  retryAfterMs: 1000,
} satisfies SheddingSettings

/**
 * Were readiness to follow the soft limits, a balancer would leave out every instance that sheds, and flood the others.
 * So it follows four times the soft limits. The heap has no such room.
 */
const readinessFactor = 4

/** A registered symbol, so that two copies of the package have the same. Checks of unknown options do not see it. */
const settingsKey = Symbol.for('@x/server.sheddingSettings')

/** Returns options that replace the rules of hand-offs, for tests and for the demonstration of load shedding. */
export function sheddingSettings(settings: SheddingSettings): SheddingOptions {
  const { load, hardLimit, onShed } = settings
  return Object.assign({ load, hardLimit, onShed }, { [settingsKey]: settings })
}

function settingsOf(options: SheddingOptions): SheddingSettings {
  const settings: SheddingSettings | undefined = Reflect.get(options, settingsKey)
  return { ...settings, ...options }
}

/** Works the options out. Throws a RangeError for a hard limit that makes no sense. */
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
    readinessLimits: {
      running: running * readinessFactor,
      eventLoopDelayMs: eventLoopDelayMs * readinessFactor,
      heapShare,
    },
    minWorkMs: settings.minWorkMs,
    handOffBudget: settings.budget,
    hardLimits: compileHardLimits(settings),
    retryAfterMs: settings.retryAfterMs,
    onShed: settings.onShed ?? ignoreShed,
  }
}

function compileHardLimits({ hardLimit = {} }: SheddingOptions): ResolvedHardLimits {
  const { running = noLimit, eventLoopDelayMs = noLimit } = hardLimit
  return {
    running: checkedNumber('shedding.hardLimit.running', running, { min: 1, isWhole: false }),
    eventLoopDelayMs: checkedNumber('shedding.hardLimit.eventLoopDelayMs', eventLoopDelayMs, {
      min: 1,
      isWhole: false,
    }),
  }
}

function ignoreShed(): void {}

/** A retry that reaches another instance is of no use where that one cannot open what this one sealed. */
function sheddableCallsOf(
  { calls }: SheddingSettings,
  stateCodec: StateCodec | false | undefined,
): SheddingRules['calls'] {
  if (calls === 'all') return 'all'
  return stateCodec === undefined || stateCodec === false ? 'none' : 'resumable'
}
