import { type ChangeBus, type Clock, memoryBus, platformRuntime, maxTimerMs } from '@x/core'
import { DefinitionError } from '../request/definition-error.ts'

/** The delivery of changes (basic/patterns/subscriptions). */
export interface SubscriptionOptions {
  /** Carries changes between the instances of a fleet. Default: within this process alone. */
  readonly bus?: ChangeBus | undefined
  /** Milliseconds after which a stream ends whose reader has not read what it was sent. Default: 60,000. */
  readonly slowReaderTimeoutMs?: number | undefined
  /** The platform's when absent. */
  readonly runtime?: Clock | undefined
}

/** {@link SubscriptionOptions} with what is absent filled in. */
export type SubscriptionSettings = {
  readonly [Name in keyof SubscriptionOptions]-?: NonNullable<SubscriptionOptions[Name]>
}

const defaultSlowReaderTimeoutMs = 60_000

/** Fills in what is absent. Throws {@link DefinitionError} for a number that makes no sense. */
export function compileSubscriptionSettings(options: SubscriptionOptions): SubscriptionSettings {
  const { bus, runtime, slowReaderTimeoutMs = defaultSlowReaderTimeoutMs } = options
  if (!Number.isSafeInteger(slowReaderTimeoutMs) || slowReaderTimeoutMs < 1 || slowReaderTimeoutMs > maxTimerMs) {
    const rule = `write a whole number from 1 to ${maxTimerMs}`
    const reason = `subscriptions.slowReaderTimeoutMs is ${slowReaderTimeoutMs}; ${rule}`
    throw new DefinitionError('value', 'server', { reason })
  }
  return { bus: bus ?? memoryBus(), runtime: runtime ?? platformRuntime, slowReaderTimeoutMs }
}
