import { type ChangeBus, type ChangeListener, randomId } from '@x/core'
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

/** Handlers by kind of message. A failure of one is logged. */
export type MessageHandlers = {
  readonly [Kind in InstanceMessage['kind']]?: (message: InstanceMessage) => void | Promise<void>
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

/** Messages between this instance and the others. An instance does not receive its own ones, but for `probe`. */
export class InstanceBus {
  readonly #bus: ChangeBus
  readonly #handlers: MessageHandlers
  readonly #onGap: () => Promise<void>
  readonly #deps: Pick<Deps, 'reportError' | 'schedule' | 'now'>
  readonly #instanceId = randomId()
  // Bounded by the messages of this instance that await a reply.
  readonly #waiters = new Set<(message: InstanceMessage) => void>()
  #listening: Promise<() => void> | undefined
  #lastGapAt = Number.NEGATIVE_INFINITY
  #lastReconnectAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(
    bus: ChangeBus,
    handlers: MessageHandlers,
    {
      onGap,
      deps,
    }: { readonly onGap: () => Promise<void>; readonly deps: Pick<Deps, 'reportError' | 'schedule' | 'now'> },
  ) {
    this.#bus = bus
    this.#handlers = handlers
    this.#onGap = onGap
    this.#deps = deps
  }

  /**
   * Resolves once this instance receives messages. If the bus cannot be reached, logs the error, and the next call
   * tries again. After a gap, makes the bus connect again at once.
   */
  async listen(): Promise<void> {
    if (this.#isClosed) return
    this.#listening ??= this.#startListening()
    await this.#runReporting(async () => void (await this.#listening))
    this.#reconnect()
  }

  async #startListening(): Promise<() => void> {
    const listener: ChangeListener = {
      onChange: (change) => {
        if (change.topic === topic && !this.#isClosed) this.#receive(change.data)
      },
      onGap: () => {
        this.noteGap()
        if (!this.#isClosed) void this.#runReporting(this.#onGap)
      },
    }
    try {
      const stop = await this.#bus.listen(listener)
      if (this.#isClosed) stop()
      return stop
    } catch (error) {
      this.#listening = undefined
      throw error
    }
  }

  #receive(data: JsonObject | undefined): void {
    const message = parseInstanceMessage(data)
    if (message === undefined) return
    const isOwn = data?.['from'] === this.#instanceId
    if (isOwn === (message.kind === 'probe')) for (const waiter of Array.from(this.#waiters)) waiter(message)
    if (isOwn) return
    void this.#runReporting(() => this.#handlers[message.kind]?.(message))
  }

  async #runReporting(work: () => void | Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#deps.reportError(error)
    }
  }

  /** Sends a message to all other instances. Failures are only logged. */
  publish(kind: InstanceMessage['kind'], { id = '', session = '' }: Partial<Omit<InstanceMessage, 'kind'>>): void {
    this.#bus.publish({ topic, data: { from: this.#instanceId, kind, id, session } }).catch((error: unknown) => {
      this.noteGap()
      this.#deps.reportError(error)
    })
  }

  /**
   * Waits for a message that has the given id and one of the given kinds. Resolves with its kind, or with undefined
   * after `ms` milliseconds.
   */
  waitForMessage(
    kinds: readonly InstanceMessage['kind'][],
    id: string,
    ms: number,
  ): Promise<InstanceMessage['kind'] | undefined> {
    return new Promise((resolve) => {
      const finish = (kind: InstanceMessage['kind'] | undefined): void => {
        cancel()
        this.#waiters.delete(waiter)
        resolve(kind)
      }
      const waiter = (message: InstanceMessage): void => {
        if (message.id === id && kinds.includes(message.kind)) finish(message.kind)
      }
      const cancel = this.#deps.schedule(() => finish(undefined), ms)
      this.#waiters.add(waiter)
    })
  }

  /** Notes that messages, or records of the store, may have been lost. */
  noteGap(): void {
    this.#lastGapAt = this.#deps.now()
  }

  /**
   * Resolves with true if messages may have been lost within the last `gapMemoryMs`, or if this instance receives none
   * at present.
   */
  async mayHaveLostMessages(): Promise<boolean> {
    if (!this.#isGapRecent() && !(await this.#returnsOwnMessage())) this.noteGap()
    return this.#isGapRecent()
  }

  #isGapRecent(): boolean {
    return this.#deps.now() - this.#lastGapAt < gapMemoryMs
  }

  /** Sends a message that only this instance receives. Resolves with false if it does not return. */
  async #returnsOwnMessage(): Promise<boolean> {
    const id = randomId()
    const returned = this.waitForMessage(['probe'], id, probeTimeoutMs)
    this.publish('probe', { id })
    return (await returned) !== undefined
  }

  /** After a gap, makes a bus connect now that waits for its next attempt, by giving it a listener. */
  #reconnect(): void {
    const now = this.#deps.now()
    if (!this.#isGapRecent() || now - this.#lastReconnectAt < reconnectIntervalMs) return
    this.#lastReconnectAt = now
    this.#bus.listen({ onChange() {}, onGap() {} }).then(
      (stop) => stop(),
      () => {},
    )
  }

  close(): void {
    this.#isClosed = true
    this.#listening?.then((stop) => stop()).catch(this.#deps.reportError)
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
