import type { StateCodec } from '@x/state-codec'
import { DefinitionError } from '../request/definition-error.ts'
import type { SheddingOptions } from './shedding-options.ts'

/** The options of shedding, with what is absent filled in. */
export interface SheddingRules {
  readonly calls: 'movable' | 'all' | 'none'
  readonly policy: SheddingOptions['policy']
  readonly limits: LoadLimits
  readonly readyLimits: LoadLimits
  readonly minWorkMs: number
  readonly budget: number
  readonly hardLimit: HardLimits
  readonly retryAfterMs: number
  /** Milliseconds that a client waits before it sends a handed-off call again; undefined leaves it to the client. */
  readonly handOffPauseMs: number | undefined
  readonly onShed: NonNullable<SheddingOptions['onShed']>
}

/** From where on an instance sheds, or is not ready. */
export interface LoadLimits {
  readonly running: number
  readonly eventLoopDelayMs: number
  readonly heapShare: number
}

/** From where on an instance refuses. */
export interface HardLimits {
  readonly running: number
  readonly eventLoopDelayMs: number
}

const none = Number.POSITIVE_INFINITY

/**
 * Works the options out. Throws a DefinitionError for numbers that make no sense, and for calls that are to be shed
 * though nothing could seal what they have done.
 */
export function rulesOf(shedding: false | SheddingOptions = {}, state: StateCodec | false | undefined): SheddingRules {
  const options = shedding === false ? {} : shedding
  const { policy, minWorkMs = 500, budget = 5, retryAfterMs = 1000, handOffPauseMs, onShed = ignoreShed } = options
  const limits = softLimits(options)
  return {
    calls: shedding === false ? 'none' : shedCalls(options, state),
    policy,
    limits,
    readyLimits: readyLimits(options, limits),
    minWorkMs: atLeast(0, 'minWorkMs', minWorkMs),
    budget: atLeast(0, 'budget', budget),
    hardLimit: hardLimits(options),
    retryAfterMs: atLeast(0, 'retryAfterMs', retryAfterMs),
    handOffPauseMs: handOffPauseMs === undefined ? undefined : atLeast(0, 'handOffPauseMs', handOffPauseMs),
    onShed,
  }
}

function softLimits({ maxRunning = none, maxEventLoopDelayMs = 25, maxHeapShare = 0.85 }: SheddingOptions): LoadLimits {
  return {
    running: atLeast(1, 'maxRunning', maxRunning),
    eventLoopDelayMs: atLeast(1, 'maxEventLoopDelayMs', maxEventLoopDelayMs),
    heapShare: checkedShare('maxHeapShare', maxHeapShare),
  }
}

/**
 * Were readiness to follow the soft limits, a balancer would leave out every instance that sheds, and flood the others.
 */
function readyLimits({ readyLimit = {} }: SheddingOptions, soft: LoadLimits): LoadLimits {
  const {
    running = soft.running * 4,
    eventLoopDelayMs = soft.eventLoopDelayMs * 4,
    heapShare = soft.heapShare,
  } = readyLimit
  return {
    running: atLeast(1, 'readyLimit.running', running),
    eventLoopDelayMs: atLeast(1, 'readyLimit.eventLoopDelayMs', eventLoopDelayMs),
    heapShare: checkedShare('readyLimit.heapShare', heapShare),
  }
}

function hardLimits({ hardLimit: { running = none, eventLoopDelayMs = none } = {} }: SheddingOptions): HardLimits {
  return {
    running: atLeast(1, 'hardLimit.running', running),
    eventLoopDelayMs: atLeast(1, 'hardLimit.eventLoopDelayMs', eventLoopDelayMs),
  }
}

function ignoreShed(): void {}

/** A retry that reaches another instance is of no use where that one cannot open what this one sealed. */
function shedCalls(
  { calls = 'movable' }: SheddingOptions,
  state: StateCodec | false | undefined,
): SheddingRules['calls'] {
  if (calls === 'movable') return state === undefined || state === false ? 'none' : 'movable'
  if (calls !== 'all') throw sheddingError(`calls is ${JSON.stringify(calls)}; write "movable" or "all"`)
  if (state === false)
    throw sheddingError('calls is "all", but with state: false a call cannot move; give state: sealedState({ keys })')
  return 'all'
}

function atLeast(least: number, name: string, value: number): number {
  if (value >= least) return value
  throw sheddingError(`${name} is ${value}; write a number from ${least}`)
}

function checkedShare(name: string, value: number): number {
  if (value > 0 && value <= 1) return value
  throw sheddingError(`${name} is ${value}; write a number above 0 and up to 1`)
}

function sheddingError(reason: string): DefinitionError {
  return new DefinitionError('value', 'shedding', { reason })
}
