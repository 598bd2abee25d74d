import type { StateCodec } from '@x/state-codec'
import { DefinitionError } from '../request/definition-error.ts'
import type { SheddingOptions } from './shedding-options.ts'

/** The options of shedding, with what is absent filled in. */
export interface SheddingRules {
  readonly calls: 'resumable' | 'all' | 'none'
  readonly policy: SheddingOptions['policy']
  readonly limits: LoadLimits
  readonly readinessLimits: LoadLimits
  readonly minWorkMs: number
  readonly handOffBudget: number
  readonly hardLimits: ResolvedHardLimits
  readonly retryAfterMs: number
  /** Milliseconds that a client waits before it sends a handed-off call again, undefined leaves it to the client. */
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
export interface ResolvedHardLimits {
  readonly running: number
  readonly eventLoopDelayMs: number
}

const noLimit = Number.POSITIVE_INFINITY

/**
 * Works the options out. Throws a DefinitionError for numbers that make no sense, and for calls that are to be shed
 * though nothing could seal what they have done.
 */
export function sheddingRulesOf(
  shedding: false | SheddingOptions = {},
  stateCodec: StateCodec | false | undefined,
): SheddingRules {
  const options = shedding === false ? {} : shedding
  const { policy, minWorkMs = 500, budget = 5, retryAfterMs = 1000, handOffPauseMs, onShed = ignoreShed } = options
  const limits = compileSoftLimits(options)
  return {
    calls: shedding === false ? 'none' : sheddableCallsOf(options, stateCodec),
    policy,
    limits,
    readinessLimits: compileReadinessLimits(options, limits),
    minWorkMs: requireAtLeast(0, 'minWorkMs', minWorkMs),
    handOffBudget: requireAtLeast(0, 'budget', budget),
    hardLimits: compileHardLimits(options),
    retryAfterMs: requireAtLeast(0, 'retryAfterMs', retryAfterMs),
    handOffPauseMs: handOffPauseMs === undefined ? undefined : requireAtLeast(0, 'handOffPauseMs', handOffPauseMs),
    onShed,
  }
}

function compileSoftLimits({
  maxRunningCalls = noLimit,
  maxEventLoopDelayMs = 25,
  maxHeapShare = 0.85,
}: SheddingOptions): LoadLimits {
  return {
    running: requireAtLeast(1, 'maxRunningCalls', maxRunningCalls),
    eventLoopDelayMs: requireAtLeast(1, 'maxEventLoopDelayMs', maxEventLoopDelayMs),
    heapShare: requireShare('maxHeapShare', maxHeapShare),
  }
}

/**
 * Were readiness to follow the soft limits, a balancer would leave out every instance that sheds, and flood the others.
 */
function compileReadinessLimits({ readinessLimit = {} }: SheddingOptions, softLoadLimits: LoadLimits): LoadLimits {
  const {
    running = softLoadLimits.running * 4,
    eventLoopDelayMs = softLoadLimits.eventLoopDelayMs * 4,
    heapShare = softLoadLimits.heapShare,
  } = readinessLimit
  return {
    running: requireAtLeast(1, 'readinessLimit.running', running),
    eventLoopDelayMs: requireAtLeast(1, 'readinessLimit.eventLoopDelayMs', eventLoopDelayMs),
    heapShare: requireShare('readinessLimit.heapShare', heapShare),
  }
}

function compileHardLimits({
  hardLimit: { running = noLimit, eventLoopDelayMs = noLimit } = {},
}: SheddingOptions): ResolvedHardLimits {
  return {
    running: requireAtLeast(1, 'hardLimit.running', running),
    eventLoopDelayMs: requireAtLeast(1, 'hardLimit.eventLoopDelayMs', eventLoopDelayMs),
  }
}

function ignoreShed(): void {}

/** A retry that reaches another instance is of no use where that one cannot open what this one sealed. */
function sheddableCallsOf(
  { calls = 'resumable' }: SheddingOptions,
  stateCodec: StateCodec | false | undefined,
): SheddingRules['calls'] {
  if (calls === 'resumable') return stateCodec === undefined || stateCodec === false ? 'none' : 'resumable'
  if (calls !== 'all') throw sheddingError(`calls is ${JSON.stringify(calls)}; write "resumable" or "all"`)
  if (stateCodec === false)
    throw sheddingError('calls is "all", but with state: false a call cannot move; give state: sealedState({ keys })')
  return 'all'
}

function requireAtLeast(minimum: number, name: string, value: number): number {
  if (value >= minimum) return value
  throw sheddingError(`${name} is ${value}; write a number from ${minimum}`)
}

function requireShare(name: string, value: number): number {
  if (value > 0 && value <= 1) return value
  throw sheddingError(`${name} is ${value}; write a number above 0 and up to 1`)
}

function sheddingError(reason: string): DefinitionError {
  return new DefinitionError('value', 'shedding', { reason })
}
