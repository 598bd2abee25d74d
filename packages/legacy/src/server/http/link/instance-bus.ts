import { type ChangeBus, type ChangeListener, randomId, type Schedule } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { Deps } from '../../session/deps.ts'

const messageKinds = [
  'answered',
  'taken',
  'offered',
  'waiting',
  'adopted',
  'cancelled',
  'looking',
  'running',
  'asked',
  'finished',
  'session',
  'listening',
  'probe',
] as const

/**
 * A message from one instance to the others. `answered`: the answer to the question `id` was stored. `taken`: an
 * instance has passed that answer to its call. `offered`: an answer to the question `id` was received, but the store
 * has no round for it. `waiting`: the sender waits for the answer to the question `id`. `adopted`: the sender now
 * continues the round `id`. `cancelled`: the client has cancelled the request `id`. `looking`: a client reads the
 * stream `id` at the sender, which does not run its call. `running`: the call of the stream `id` runs at the sender.
 * `asked`: the call of the stream `id` waits for answers, and its round was stored. `finished`: the response on the
 * stream `id` was stored. `session`: the stored record of the session has changed. `listening`: the sender has opened
 * the GET stream of the session. `probe`: the sender checks that its own messages arrive.
 */
export interface InstanceMessage {
  readonly kind: (typeof messageKinds)[number]
  readonly id: string
  /** Key of the session that the message is about. Empty if `id` is enough. */
  readonly session: string
}

/** Messages between this instance and the others. */
export interface InstanceBus {
  /**
   * Resolves once this instance receives messages. If the bus cannot be reached, logs the error, and the next call
   * tries again. After a gap, makes the bus connect again at once.
   */
  listen(): Promise<void>
  /** Sends a message to all other instances. Failures are only logged. */
  publish(kind: InstanceMessage['kind'], message: Partial<Omit<InstanceMessage, 'kind'>>): void
  /**
   * Waits for a message that has the given id and one of the given kinds. Resolves with its kind, or with undefined
   * after `ms` milliseconds.
   */
  waitForMessage(
    kinds: readonly InstanceMessage['kind'][],
    id: string,
    ms: number,
  ): Promise<InstanceMessage['kind'] | undefined>
  /** Notes that messages, or records of the store, may have been lost. */
  noteGap(): void
  /**
   * Resolves with true if messages may have been lost within the last `gapMemoryMs`, or if this instance receives none
   * at present.
   */
  mayHaveLostMessages(): Promise<boolean>
  close(): void
}

/** Handlers by kind of message. A failure of one is logged. */
export type MessageHandlers = {
  readonly [Kind in InstanceMessage['kind']]?: (message: InstanceMessage) => void | Promise<void>
}

export interface InstanceBusOptions {
  readonly handlers: MessageHandlers
  readonly onGap: () => Promise<void>
  readonly deps: Pick<Deps, 'reportError' | 'schedule' | 'now'>
}

/**
 * Milliseconds for which a gap is remembered. An instance that was cut off may need so long until it receives messages
 * again, because the pauses between its attempts grow to 30 seconds.
 */
const gapMemoryMs = 40_000
/** Milliseconds at least between two such attempts. */
const reconnectIntervalMs = 1000
const probeTimeoutMs = 1000

const topic = 'x/legacy'

/** An instance does not receive its own messages. */
export function createInstanceBus(bus: ChangeBus, { handlers, onGap, deps }: InstanceBusOptions): InstanceBus {
  const { reportError } = deps
  const messageWaiters = createMessageWaiters(deps.schedule)
  const instanceId = randomId()
  const gaps = createGapMemory(bus, deps.now)
  let listenPromise: Promise<() => void> | undefined
  let isClosed = false
  const receive = (data: JsonObject | undefined): void => {
    const message = parseInstanceMessage(data)
    if (message === undefined) return
    const isOwn = data?.['from'] === instanceId
    if (isOwn === (message.kind === 'probe')) messageWaiters.meet(message)
    if (isOwn) return
    void runReporting(reportError, () => handlers[message.kind]?.(message))
  }
  const listener: ChangeListener = {
    onChange: (change) => {
      if (change.topic === topic && !isClosed) receive(change.data)
    },
    onGap: () => {
      gaps.note()
      if (!isClosed) void runReporting(reportError, onGap)
    },
  }
  const startListening = async (): Promise<() => void> => {
    try {
      const stop = await bus.listen(listener)
      if (isClosed) stop()
      return stop
    } catch (error) {
      listenPromise = undefined
      throw error
    }
  }
  const publish: InstanceBus['publish'] = (kind, { id = '', session = '' }) => {
    bus.publish({ topic, data: { from: instanceId, kind, id, session } }).catch((error: unknown) => {
      gaps.note()
      reportError(error)
    })
  }
  return {
    async listen() {
      if (isClosed) return
      listenPromise ??= startListening()
      await runReporting(reportError, async () => void (await listenPromise))
      gaps.reconnect()
    },
    publish,
    waitForMessage: (kinds, id, ms) => messageWaiters.expect(kinds, id, ms),
    noteGap: gaps.note,
    async mayHaveLostMessages() {
      if (!gaps.isRecent() && !(await returnsOwnMessage(publish, messageWaiters))) gaps.note()
      return gaps.isRecent()
    },
    close() {
      isClosed = true
      listenPromise?.then((stop) => stop()).catch(reportError)
    },
  }
}

/** Sends a message that only this instance receives. Resolves with false if it does not return. */
async function returnsOwnMessage(
  publish: InstanceBus['publish'],
  waiters: ReturnType<typeof createMessageWaiters>,
): Promise<boolean> {
  const id = randomId()
  const returned = waiters.expect(['probe'], id, probeTimeoutMs)
  publish('probe', { id })
  return (await returned) !== undefined
}

async function runReporting(reportError: Deps['reportError'], work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    reportError(error)
  }
}

function createGapMemory(bus: ChangeBus, now: () => number) {
  let lastGapAt = Number.NEGATIVE_INFINITY
  let lastReconnectAt = Number.NEGATIVE_INFINITY
  const isRecent = (): boolean => now() - lastGapAt < gapMemoryMs
  return {
    isRecent,
    note(): void {
      lastGapAt = now()
    },
    /** After a gap, makes a bus connect now that waits for its next attempt, by giving it a listener. */
    reconnect(): void {
      if (!isRecent() || now() - lastReconnectAt < reconnectIntervalMs) return
      lastReconnectAt = now()
      bus.listen({ onChange() {}, onGap() {} }).then(
        (stop) => stop(),
        () => {},
      )
    },
  }
}

// Messages of unknown kinds are ignored, because later versions may send them.
function parseInstanceMessage(data: JsonObject | undefined): InstanceMessage | undefined {
  if (!isJsonObject(data)) return undefined
  const { id, session } = data
  const kind = messageKinds.find((name) => name === data['kind'])
  if (kind === undefined || typeof id !== 'string' || typeof session !== 'string') return undefined
  return { kind, id, session }
}

function createMessageWaiters(schedule: Schedule) {
  // Bounded by the messages of this instance that await a reply.
  const waiters = new Set<(message: InstanceMessage) => void>()
  return {
    meet(message: InstanceMessage): void {
      for (const waiter of Array.from(waiters)) waiter(message)
    },
    expect: (
      kinds: readonly InstanceMessage['kind'][],
      id: string,
      ms: number,
    ): Promise<InstanceMessage['kind'] | undefined> =>
      new Promise((resolve) => {
        const finish = (kind: InstanceMessage['kind'] | undefined): void => {
          cancel()
          waiters.delete(waiter)
          resolve(kind)
        }
        const waiter = (message: InstanceMessage): void => {
          if (message.id === id && kinds.includes(message.kind)) finish(message.kind)
        }
        const cancel = schedule(() => finish(undefined), ms)
        waiters.add(waiter)
      }),
  }
}
