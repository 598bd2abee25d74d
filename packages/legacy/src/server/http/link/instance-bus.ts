import { type ChangeBus, randomId } from '@x/core'
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
] as const

/**
 * A message between instances. `answered`: the store has the answer to the question `id`. `taken`: an instance waited
 * for it. `offered`: an answer to the question `id` has come, and the store knows no round. `waiting`: an instance has
 * the question. `adopted`: another instance waits for the answers of the round `id`. `cancelled`: the client cancelled
 * the request `id`. `looking`: the stream `id` has a reader at another instance. `running`: its call runs at an
 * instance. `asked`: it waits, and the store has the round. `finished`: the store has its response. `session`: the
 * stored record of the session has changed. `listening`: another instance has opened the GET stream of the session.
 */
export interface InstanceMessage {
  readonly kind: (typeof messageKinds)[number]
  readonly id: string
  /** The key of the session that it is about. Empty where the id is enough. */
  readonly session: string
}

/** The messages of an instance to the others. */
export interface InstanceBus {
  /**
   * Resolves when this instance receives messages. A bus that cannot be reached is reported. The next call tries again.
   */
  listen(): Promise<void>
  /** Sends a message to all other instances. A failure is reported. */
  publish(kind: InstanceMessage['kind'], message: Partial<Omit<InstanceMessage, 'kind'>>): void
  /**
   * Resolves with the kind of the first message about an id, of those given, or undefined after so many milliseconds.
   */
  waitForMessage(
    kinds: readonly InstanceMessage['kind'][],
    id: string,
    ms: number,
  ): Promise<InstanceMessage['kind'] | undefined>
  close(): void
}

/** Takes the messages of each kind. A failure is reported. */
export type MessageHandlers = {
  readonly [Kind in InstanceMessage['kind']]?: (message: InstanceMessage) => void | Promise<void>
}

/** Dependencies of {@link createInstanceBus}. */
export interface InstanceBusOptions {
  readonly handlers: MessageHandlers
  readonly onGap: () => Promise<void>
  readonly deps: Pick<Deps, 'reportError' | 'schedule'>
}

const topic = 'x/legacy'

/** Sends and receives the messages of one instance. Its own are not delivered to it. */
export function createInstanceBus(bus: ChangeBus, { handlers, onGap, deps }: InstanceBusOptions): InstanceBus {
  const { reportError } = deps
  const messageWaiters = createMessageWaiters(deps.schedule)
  const instanceId = randomId()
  let listenPromise: Promise<() => void> | undefined
  let isClosed = false
  const receive = (data: JsonObject | undefined): void => {
    const message = parseInstanceMessage(data)
    if (message === undefined || data?.['from'] === instanceId) return
    messageWaiters.meet(message)
    void runReporting(() => handlers[message.kind]?.(message))
  }
  const runReporting = async (work: () => void | Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      reportError(error)
    }
  }
  const startListening = async (): Promise<() => void> => {
    try {
      const stop = await bus.listen({
        onChange: (change) => {
          if (change.topic === topic && !isClosed) receive(change.data)
        },
        onGap: () => {
          if (!isClosed) void runReporting(onGap)
        },
      })
      if (isClosed) stop()
      return stop
    } catch (error) {
      listenPromise = undefined
      throw error
    }
  }
  return {
    async listen() {
      if (isClosed) return
      listenPromise ??= startListening()
      await runReporting(async () => void (await listenPromise))
    },
    publish(kind, { id = '', session = '' }) {
      bus.publish({ topic, data: { from: instanceId, kind, id, session } }).catch(reportError)
    },
    waitForMessage: (kinds, id, ms) => messageWaiters.expect(kinds, id, ms),
    close() {
      isClosed = true
      listenPromise?.then((stop) => stop()).catch(reportError)
    },
  }
}

// Later versions may send other kinds of messages, which are ignored.
function parseInstanceMessage(data: JsonObject | undefined): InstanceMessage | undefined {
  if (!isJsonObject(data)) return undefined
  const { id, session } = data
  const kind = messageKinds.find((name) => name === data['kind'])
  if (kind === undefined || typeof id !== 'string' || typeof session !== 'string') return undefined
  return { kind, id, session }
}

/** Waits for single messages. */
function createMessageWaiters(schedule: Deps['schedule']) {
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
