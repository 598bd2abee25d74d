import { cancelReason, errorCodes, isCancelled, type JsonObject, McpError } from '@x/schema'
import { createBusUse } from './bus-use.ts'
import { type SubscriptionOptions, subscriptionSettings } from './options.ts'
import { createSlots } from './slots.ts'
import { createStream, endStream, type Hub, openStream, type Stream, type Subscription, type Topic } from './stream.ts'
import { tell } from './tell.ts'

/** The streams of one server, and the bus that their changes come over. */
export interface Subscriptions {
  /** False where the author switched them off. */
  readonly served: boolean
  /** How many resource URIs one filter may hold. */
  readonly maxUris: number
  /**
   * Streams changes until the call is told to stop or its principal's proof runs out, and resolves with the result that says so.
   * Rejects with the McpError that the peer is to see, with the signal's reason when it aborts before anything was sent, or with
   * what failed.
   */
  follow(subscription: Subscription): Promise<JsonObject>
  /** Tells every instance that a topic has changed. Rejects when the bus fails. */
  publish(topic: string): Promise<void>
}

/** What subscriptions need of their server. */
export interface Surroundings {
  /** Hears of a bus that fails. */
  readonly onError: (error: unknown) => void
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
}

const switchedOff: Subscriptions = {
  served: false,
  maxUris: 0,
  follow: () => Promise.reject(new McpError(errorCodes.methodNotFound, 'This server has no subscriptions')),
  publish: () => Promise.resolve(),
}

/** Makes the subscriptions of a server (basic/patterns/subscriptions). Throws DefinitionError for numbers that make no sense. */
export function createSubscriptions(options: SubscriptionOptions | false, around: Surroundings): Subscriptions {
  if (options === false) return switchedOff
  const { bus, clock, slowReaderMs, maxUris, ...limits } = subscriptionSettings(options)
  const { wallClock, onError } = around
  const listener = { onChange: ({ topic }: { topic: string }) => deliver(hub, topic), onGap: () => deliverAll(hub) }
  const hub: Hub = {
    topics: new Map(),
    clock,
    wallClock,
    slowReaderMs,
    slots: createSlots(limits),
    busUse: createBusUse(bus, listener, onError),
  }
  return {
    served: true,
    maxUris,
    follow: (subscription) => new Promise((resolve) => follow(hub, subscription, resolve)),
    publish: async (topic) => bus.publish({ topic }),
  }
}

function follow(hub: Hub, subscription: Subscription, settle: Stream['settle']): void {
  const { call, filter } = subscription
  if (isCancelled(call)) throw cancelReason(call)
  refuseExpired(call.principal?.expiresAt, hub.wallClock())
  const stream = createStream(hub, subscription, settle)
  // The acknowledgement promises that no change from now on is lost, so that the bus has to listen first.
  hub.busUse.acquire().then(
    () => openStream(hub, stream, filter),
    (cause: unknown) => endStream(hub, stream, { error: unheard(cause) }),
  )
}

function deliver(hub: Hub, name: string): void {
  const topic = hub.topics.get(name)
  if (topic !== undefined) tellAll(hub, topic)
}

/** Changes may have been lost, so that everybody is told of everything they asked for. */
function deliverAll(hub: Hub): void {
  for (const topic of hub.topics.values()) tellAll(hub, topic)
}

function tellAll(hub: Hub, topic: Topic): void {
  for (const stream of topic.streams) tell(hub, stream, topic)
}

/** A number that is not one has expired as well. */
function refuseExpired(expiresAt: number | undefined, now: number): void {
  if (expiresAt === undefined || expiresAt > now) return
  throw new McpError(
    errorCodes.invalidRequest,
    'What authenticates this request has expired: renew it, and listen again',
  )
}

/** What is wrong with the bus is told to the author; the peer cannot do anything about it. */
function unheard(cause: unknown): McpError {
  const message = 'This server cannot hear of changes at present: listen again later'
  return new McpError(errorCodes.internal, message, { cause })
}
