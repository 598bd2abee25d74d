import { randomId } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { Deps } from '../deps.ts'
import type { LinkBus } from '../options.ts'

const messageKinds = [
  'answered',
  'taken',
  'adopted',
  'resume',
  'relaying',
  'written',
  'left',
  'cancelled',
  'session',
  'listening',
] as const

/**
 * A message between instances. `answered`: the store has the answer to the question `id`; `taken`: an instance waited
 * for it. `adopted`: the answers of the round `id` are waited for at another instance. `resume`: the stream `id` has a
 * reader at another instance, after the event `number`; `relaying`: an instance writes it under the relay `id`;
 * `written`: the relay has more; `left`: its reader has gone. `cancelled`: the client cancelled the request `id`.
 * `session`: the stored record of the session has changed. `listening`: another instance has opened the GET stream of
 * the session.
 */
export interface InstanceMessage {
  readonly kind: (typeof messageKinds)[number]
  readonly id: string
  /** The key of the session that it is about; empty where the id is enough. */
  readonly session: string
  readonly number: number
  readonly relay: string
}

/** The messages of an instance to the others. */
export interface InstanceBus {
  /**
   * Resolves when this instance hears the others. A bus that cannot be reached is reported; the next call tries again.
   */
  listen(): Promise<void>
  /** Sends a message to all other instances; a failure is reported. */
  publish(kind: InstanceMessage['kind'], message: Partial<Omit<InstanceMessage, 'kind'>>): void
  /** Resolves with true when a message of this kind and id has come, or with false after so many milliseconds. */
  waitForMessage(kind: InstanceMessage['kind'], id: string, ms: number): Promise<boolean>
  close(): void
}

/** Takes the messages of each kind; a failure is reported. */
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

/** Sends and receives the messages of one instance; its own do not come back. */
export function createInstanceBus(bus: LinkBus, { handlers, onGap, deps }: InstanceBusOptions): InstanceBus {
  const { reportError } = deps
  const messageWaiters = createMessageWaiters(deps.schedule)
  const instanceId = randomId()
  let listenPromise: Promise<() => void> | undefined
  let isClosed = false
  const receive = (data: JsonObject | undefined): void => {
    const message = parseInstanceMessage(data)
    if (message === undefined || data?.['from'] === instanceId) return
    messageWaiters.meet(`${message.kind} ${message.id}`)
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
    publish(kind, { id = '', session = '', number = 0, relay = '' }) {
      bus.publish({ topic, data: { from: instanceId, kind, id, session, number, relay } }).catch(reportError)
    },
    waitForMessage: (kind, id, ms) => messageWaiters.expect(`${kind} ${id}`, ms),
    close() {
      isClosed = true
      listenPromise?.then((stop) => stop()).catch(reportError)
    },
  }
}

// Later versions may send more; what is not known here is ignored.
function parseInstanceMessage(data: JsonObject | undefined): InstanceMessage | undefined {
  if (!isJsonObject(data)) return undefined
  const { id, session, number, relay } = data
  const kind = messageKinds.find((name) => name === data['kind'])
  if (kind === undefined || typeof id !== 'string' || typeof session !== 'string') return undefined
  if (typeof number !== 'number' || typeof relay !== 'string') return undefined
  return { kind, id, session, number, relay }
}

/** Waits for single messages. */
function createMessageWaiters(schedule: Deps['schedule']) {
  const waiters = new Map<string, () => void>()
  return {
    meet: (key: string): void => waiters.get(key)?.(),
    expect: (key: string, ms: number): Promise<boolean> =>
      new Promise((resolve) => {
        const finish = (hasArrived: boolean): void => {
          cancel()
          waiters.delete(key)
          resolve(hasArrived)
        }
        const cancel = schedule(() => finish(false), ms)
        waiters.set(key, () => finish(true))
      }),
  }
}
