import { type Clock, platformClock, type SubscriptionFilter } from '@x/schema'
import type { CachePartition } from '../caching/cache-partition.ts'
import { ClientError, isClientError } from '../request/client-error.ts'
import { defaultTimeoutMs, errorContextOf, type ClientState, type SendOnce } from '../request/request.ts'
import { pauseCall, backoffMs } from '../request/pause.ts'
import { openWait } from '../request/wait.ts'
import { toFilter, staleAfterGap, staleBy, wantedBy, type WantedChanges } from './changes.ts'
import { createEventQueue, type EventQueue } from './event-queue.ts'
import { readSubscription } from './read-stream.ts'
import { isPermanent, retryAfterOf } from './permanent-failure.ts'
import type { ListenOptions, Subscription } from './subscription.ts'

/** The parts of the client that subscriptions use. */
export interface ListenContext {
  readonly once: SendOnce
  readonly seen: ClientState
  readonly clock: Clock | undefined
  readonly timeoutMs: number | undefined
  /** Removes the cached results that changes make stale. */
  readonly partition: Pick<CachePartition, 'forget'>
  /** True when the connection was closed here, so that no request will be answered. */
  readonly isClosed: () => boolean
}

/** Subscribes to changes (basic/patterns/subscriptions). */
export type Listen = (filter: SubscriptionFilter, options?: ListenOptions) => Subscription

// The number of resource parts that may wait one by one; beyond it one event reports the whole resource.
const maxParts = 1000

/** Creates the function that opens subscriptions. */
export function createListen(context: ListenContext): Listen {
  return (filter, options = {}) => {
    const wanted = wantedBy(filter)
    const queue = createEventQueue(wanted.uris.size + maxParts)
    const { clock = platformClock } = context
    const late = (): Error => new Error('a subscription is never late')
    const wait = openWait({ signal: options.signal, timeoutMs: undefined, clock, late })
    const failed = (error: unknown): void => (wait.signal.aborted ? queue.drop({ error }) : queue.end({ error }))
    const done = reopenStreams(context, { wanted, queue, options, signal: wait.signal, clock })
      .then(() => queue.end(), failed)
      .finally(wait.close)
    const close = async (): Promise<void> => {
      queue.drop()
      wait.stop(new DOMException('The subscription was closed', 'AbortError'))
      await done
    }
    return { ...readOnce(queue, close), close, [Symbol.asyncDispose]: close }
  }
}

function readOnce(queue: EventQueue, close: () => Promise<void>): Pick<Subscription, typeof Symbol.asyncIterator> {
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
  readonly wanted: WantedChanges
  readonly queue: EventQueue
  readonly options: ListenOptions
  readonly signal: AbortSignal
  readonly clock: Clock
}

/**
 * Follows one stream after the other. Returns at a graceful end, and rejects with the error that ends the subscription.
 */
async function reopenStreams(context: ListenContext, running: OpenSubscription): Promise<void> {
  const { queue, options, signal, clock } = running
  const { attempts, ...pauses } = reopening(options)
  let inRow = 0
  for (let isFirst = true; ; isFirst = false) {
    const { openMs, error } = await followStream(context, running, isFirst)
    if (openMs >= pauses.most) inRow = 0
    if (inRow >= attempts) {
      if (error) throw error
      return
    }
    const asked = error ? Math.min(retryAfterOf(error), pauses.most) : 0
    const retryInMs = Math.ceil(Math.max(asked, backoffMs(inRow, pauses)))
    inRow += 1
    queue.put(error ? { type: 'interrupted', error, retryInMs } : { type: 'interrupted', retryInMs })
    await pauseCall(retryInMs, clock, signal)
  }
}

function reopening({ reopen = {} }: ListenOptions): { attempts: number; first: number; most: number } {
  const {
    pauseMs = 1000,
    maxPauseMs = 30_000,
    attempts = Number.POSITIVE_INFINITY,
  } = reopen === false ? { attempts: 0 } : reopen
  return { attempts, first: pauseMs, most: maxPauseMs }
}

interface StreamEnd {
  /** The time that the stream was open, in milliseconds. */
  readonly openMs: number
  /** Absent after a graceful end. */
  readonly error?: ClientError | undefined
}

/** Follows one stream to its end; rejects with the signal's reason, or an error that another attempt would not mend. */
async function followStream(context: ListenContext, running: OpenSubscription, isFirst: boolean): Promise<StreamEnd> {
  const { wanted, queue, options, signal, clock } = running
  const { once, partition, seen } = context
  const call = { method: 'subscriptions/listen', params: { notifications: toFilter(wanted) } } as const
  let openedAt: number | undefined
  const onMessage = readSubscription(wanted, {
    onOpened: (accepted) => {
      openedAt = clock.now()
      if (!isFirst) partition.forget(staleAfterGap(wanted))
      queue.put({ type: 'opened', notifications: toFilter(accepted), missed: !isFirst })
    },
    onChange: (change) => {
      partition.forget(staleBy(change))
      queue.put(change.event, change.part && { type: 'resourceUpdated', uri: change.part.of })
    },
  })
  const openMs = (): number => (openedAt === undefined ? 0 : clock.now() - openedAt)
  const timeoutMs = options.openTimeoutMs ?? context.timeoutMs ?? defaultTimeoutMs
  const callOptions = { signal, meta: options.meta, timeoutMs, maxTotalMs: timeoutMs }
  try {
    await once({ ...call, onMessage }, callOptions)
    if (openedAt !== undefined) return { openMs: openMs() }
    const why = 'the stream ended before it was acknowledged'
    return { openMs: 0, error: new ClientError('invalid_result', why, errorContextOf(call, seen)) }
  } catch (error) {
    signal.throwIfAborted()
    if (!isClientError(error) || isPermanent(error) || context.isClosed()) throw error
    return { openMs: openMs(), error }
  }
}
