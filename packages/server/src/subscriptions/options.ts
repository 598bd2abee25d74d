import { type ChangeBus, type Clock, memoryBus, platformRuntime, maxTimerMs } from '@x/core'
import { DefinitionError } from '../request/definition-error.ts'

/** The delivery of changes, and the limits of streams (basic/patterns/subscriptions). */
export interface SubscriptionOptions {
  /** Carries changes between the instances of a fleet; within this process alone when absent. */
  readonly bus?: ChangeBus | undefined
  /** Streams that may be open at this server at once; 10,000 when absent. */
  readonly maxStreams?: number | undefined
  /**
   * Streams of one caller at this server; 100 when absent. Callers without a principal who share an address share them
   * (`clientAddress` of the transport).
   */
  readonly maxStreamsPerCaller?: number | undefined
  /** Resource URIs in one filter; 100 when absent. */
  readonly maxUris?: number | undefined
  /**
   * Lists and resource URIs that all streams together may ask for, each counted for every stream; 100,000 when absent.
   * A stream that does not fit is rejected, and none that is open is closed. A URI takes at most 160 bytes, or 4 times
   * its length.
   */
  readonly maxTopics?: number | undefined
  /** Lists and resource URIs that all streams of one caller together may ask for; 10,000 when absent. */
  readonly maxTopicsPerCaller?: number | undefined
  /** Milliseconds that a reader may leave what it was sent before its stream is broken off; 60,000 when absent. */
  readonly slowReaderTimeoutMs?: number | undefined
  /** The platform's when absent. */
  readonly runtime?: Clock | undefined
}

/** {@link SubscriptionOptions} with what is absent filled in. */
export type SubscriptionSettings = {
  readonly [Name in keyof SubscriptionOptions]-?: NonNullable<SubscriptionOptions[Name]>
}

const defaultLimits = {
  maxStreams: 10_000,
  maxStreamsPerCaller: 100,
  maxUris: 100,
  maxTopics: 100_000,
  maxTopicsPerCaller: 10_000,
  slowReaderTimeoutMs: 60_000,
}

/** Fills in what is absent. Throws {@link DefinitionError} for a number that makes no sense. */
export function compileSubscriptionSettings(options: SubscriptionOptions): SubscriptionSettings {
  const readLimit = (name: keyof typeof defaultLimits): number =>
    requireLimit(name, options[name] ?? defaultLimits[name])
  return {
    bus: options.bus ?? memoryBus(),
    maxStreams: readLimit('maxStreams'),
    maxStreamsPerCaller: readLimit('maxStreamsPerCaller'),
    maxUris: readLimit('maxUris'),
    maxTopics: readLimit('maxTopics'),
    maxTopicsPerCaller: readLimit('maxTopicsPerCaller'),
    slowReaderTimeoutMs: readLimit('slowReaderTimeoutMs'),
    runtime: options.runtime ?? platformRuntime,
  }
}

function requireLimit(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= maxTimerMs) return value
  const reason = `subscriptions.${name} is ${value}; write a whole number from 1 to ${maxTimerMs}`
  throw new DefinitionError('value', 'server', { reason })
}
