import { type BackoffBounds, computeBackoffMs, type Clock, openAbortScope, sleep } from '@x/core'
import type { SubscriptionFilter } from '@x/schema'
import type { OpenedPartition } from '../caching/cache-partition.ts'
import { ClientError, isClientError } from '../request/client-error.ts'
import { type ClientState, errorContextOf } from '../request/client-state.ts'
import type { SendOnce } from '../request/request.ts'
import {
  refusedFilterOf,
  subscriptionFilterOf,
  stalePredicateAfterGap,
  stalePredicateOf,
  wantedChangesOf,
  type WantedChanges,
} from '../caching/changes.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { createSubscriptionReader } from './read-stream.ts'
import { isPermanent, retryAfterMsOf } from '../request/permanent-failure.ts'
import { type ListenOptions, reopenDefaults, type Subscription } from './subscription.ts'

export interface ListenContext {
  readonly sendOnce: SendOnce
  readonly clientState: ClientState
  readonly clock: Clock
  readonly partition: Pick<OpenedPartition, 'removeStaleEntries'>
  /** True once the program has closed the connection. Streams are then not opened again. */
  readonly isClosed: () => boolean
}

/** Subscribes to changes (basic/patterns/subscriptions). */
export type ListenFunction = (filter: SubscriptionFilter, options?: ListenOptions) => Subscription

// Maximum number of queued events for parts of resources. Beyond it, one event for the containing resource replaces
// further ones.
const maxQueuedSubresources = 1000

export function createListen(context: ListenContext): ListenFunction {
  return (filter, options = {}) => {
    const requestedChanges = wantedChangesOf(filter)
    const queue = createEventQueue(requestedChanges.uris.size + maxQueuedSubresources)
    const abortScope = openAbortScope(options.signal)
    const endWithError = (error: unknown): void =>
      abortScope.signal.aborted ? queue.drop({ error }) : queue.end({ error })
    const streamsEnd = reopenStreams(context, {
      wantedChanges: requestedChanges,
      queue,
      options,
      signal: abortScope.signal,
    })
      .then(() => queue.end(), endWithError)
      .finally(() => {
        abortScope.close()
        context.clientState.events.emit?.({ type: 'subscription', state: 'closed' })
      })
    const close = async (): Promise<void> => {
      queue.drop()
      abortScope.stop(new DOMException('The subscription was closed', 'AbortError'))
      await streamsEnd
    }
    return { ...toSingleUseIterable(queue, close), close, [Symbol.asyncDispose]: close }
  }
}

function toSingleUseIterable(
  queue: EventQueue,
  close: () => Promise<void>,
): Pick<Subscription, typeof Symbol.asyncIterator> {
  let isRead = false
  return {
    [Symbol.asyncIterator]: () => {
      if (isRead) throw new TypeError('A subscription is read once: call listen again, or read it in one loop')
      isRead = true
      return {
        next: queue.next,
        return: async () => {
          await close()
          return { done: true, value: undefined }
        },
      }
    },
  }
}

interface OpenSubscription {
  readonly wantedChanges: WantedChanges
  readonly queue: EventQueue
  readonly options: ListenOptions
  readonly signal: AbortSignal
}

async function reopenStreams(context: ListenContext, currentSubscription: OpenSubscription): Promise<void> {
  const { queue, options, signal } = currentSubscription
  const { attempts, ...backoffBounds } = reopenBoundsOf(options)
  let failuresInRow = 0
  for (let isFirst = true; ; isFirst = false) {
    const { openDurationMs, error } = await followStream(context, currentSubscription, isFirst)
    if (openDurationMs >= backoffBounds.maxMs) failuresInRow = 0
    if (failuresInRow >= attempts) {
      if (error) throw error
      return
    }
    const requestedDelayMs = error ? Math.min(retryAfterMsOf(error), backoffBounds.maxMs) : 0
    const retryInMs = Math.ceil(Math.max(requestedDelayMs, computeBackoffMs(failuresInRow, backoffBounds)))
    failuresInRow += 1
    queue.put(error ? { type: 'interrupted', error, retryInMs } : { type: 'interrupted', retryInMs })
    await sleep(retryInMs, { clock: context.clock, signal })
  }
}

function reopenBoundsOf({ reopen = {} }: ListenOptions): BackoffBounds & { readonly attempts: number } {
  const {
    pauseMs = reopenDefaults.pauseMs,
    maxPauseMs = reopenDefaults.maxPauseMs,
    attempts = reopenDefaults.attempts,
  } = reopen === false ? { attempts: 0 } : reopen
  return { attempts, firstMs: pauseMs, maxMs: maxPauseMs }
}

async function followStream(
  context: ListenContext,
  currentSubscription: OpenSubscription,
  isFirst: boolean,
): Promise<{ readonly openDurationMs: number; readonly error?: ClientError | undefined }> {
  const { wantedChanges, queue, options, signal } = currentSubscription
  const { sendOnce, partition, clientState, clock } = context
  const call = {
    method: 'subscriptions/listen',
    params: { notifications: subscriptionFilterOf(wantedChanges) },
  } as const
  let openedAt: number | undefined
  const onMessage = createSubscriptionReader(wantedChanges, {
    onOpened: (acceptedChanges) => {
      openedAt = clock.monotonicNow()
      clientState.events.emit?.({ type: 'subscription', state: isFirst ? 'opened' : 'reopened' })
      if (!isFirst) partition.removeStaleEntries(stalePredicateAfterGap(wantedChanges))
      const refused = refusedFilterOf(wantedChanges, acceptedChanges)
      queue.put({
        type: 'opened',
        notifications: subscriptionFilterOf(acceptedChanges),
        ...(refused !== undefined && { refused }),
        mayHaveMissedChanges: !isFirst,
      })
    },
    onChange: (change) => {
      partition.removeStaleEntries(stalePredicateOf(change))
      queue.put(
        change.event,
        change.containingResource && { type: 'resourceUpdated', uri: change.containingResource.subscribedUri },
      )
    },
  })
  const computeOpenDurationMs = (): number => (openedAt === undefined ? 0 : clock.monotonicNow() - openedAt)
  const callOptions = { signal, meta: options.meta }
  try {
    await sendOnce({ ...call, onMessage }, callOptions)
    if (openedAt !== undefined) return { openDurationMs: computeOpenDurationMs() }
    const reason = 'the stream ended before it was acknowledged'
    return { openDurationMs: 0, error: new ClientError('invalid_result', reason, errorContextOf(call, clientState)) }
  } catch (error) {
    signal.throwIfAborted()
    if (!isClientError(error) || isPermanent(error) || context.isClosed()) throw error
    return { openDurationMs: computeOpenDurationMs(), error }
  }
}
