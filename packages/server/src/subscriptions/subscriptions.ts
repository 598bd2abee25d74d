import { cancelReason, errorCodes, isCancelled, McpError, unlessCancelled } from '@x/schema'
import { createBusUse } from './bus-use.ts'
import { type SubscriptionOptions, subscriptionSettings } from './options.ts'
import { createSlots } from './slots.ts'
import { type Hub, openStream, type Subscription, type Topic } from './stream.ts'
import { tell } from './tell.ts'

/** The streams of one server, and the bus that their changes come over. */
export interface Subscriptions {
  /** False where the author switched them off. */
  readonly served: boolean
  /** How many resource URIs one filter may hold. */
  readonly maxUris: number
  /**
   * Streams changes until the call is told to stop or its principal's proof runs out. Rejects with the McpError that the
   * peer is to see, with the signal's reason when it aborts before anything was sent, or with what failed.
   */
  follow(subscription: Subscription): Promise<void>
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
  follow: () => Promise.resolve(),
  publish: () => Promise.resolve(),
}

/** Makes the subscriptions of a server (basic/patterns/subscriptions). Throws DefinitionError for numbers that make no sense. */
export function createSubscriptions(options: SubscriptionOptions | false, around: Surroundings): Subscriptions {
  if (options === false) return switchedOff
  const { bus, clock, slowReaderMs, maxUris, ...limits } = subscriptionSettings(options)
  const { wallClock, onError } = around
  const hub: Hub = { topics: new Map(), clock, wallClock, slowReaderMs }
  const takeSlot = createSlots(limits)
  const listener = { onChange: ({ topic }: { topic: string }) => deliver(hub, topic), onGap: () => deliverAll(hub) }
  const busUse = createBusUse(bus, listener, onError)

  async function follow(subscription: Subscription): Promise<void> {
    const { call } = subscription
    const { principal } = call
    if (isCancelled(call)) throw cancelReason(call)
    refuseExpired(principal?.expiresAt, wallClock())
    const giveBack = takeSlot(principal)
    try {
      // The acknowledgement promises that no change from now on is lost, so that the bus has to listen first.
      await unlessCancelled(busUse.acquire().catch(refuse), call)
      if (isCancelled(call)) throw cancelReason(call)
      await openStream(hub, subscription)
    } finally {
      busUse.release()
      giveBack()
    }
  }
  return { served: true, maxUris, follow, publish: async (topic) => bus.publish({ topic }) }
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
function refuse(cause: unknown): never {
  const message = 'This server cannot hear of changes at present: listen again later'
  throw new McpError(errorCodes.internal, message, { cause })
}
