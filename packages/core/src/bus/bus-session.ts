import { BusError } from './change-bus.ts'
import { type ConnectionOptions, keepConnectionOpen } from './connection.ts'
import { sleep } from '../waiting.ts'

export const minReconnectDelayMs = 250

export const maxReconnectDelayMs = 30_000

/** A failed attempt is not followed sooner, even if the server answers over another connection. */
const minRetryDelayMs = 1000

/** A connection that has lived so long may be lost without counting as a failure. */
export const healthyAfterMs = maxReconnectDelayMs

/** Grows with the number of failures in a row, and has jitter. */
export function computeReconnectDelayMs(failureCount: number, random: () => number): number {
  const currentMaxDelayMs = Math.min(maxReconnectDelayMs, minReconnectDelayMs * 2 ** (failureCount + 1))
  return minReconnectDelayMs + random() * (currentMaxDelayMs - minReconnectDelayMs)
}

export interface BusSessionOptions extends ConnectionOptions {
  /** The connection is open again after a loss. Messages sent in between are lost. */
  readonly onGap: () => void
  /** Gets the error of a lost connection, and of each failed attempt to open it again. */
  readonly onError: (error: unknown) => void
  /** From 0 to 1, for the jitter. */
  readonly random: () => number
}

/** A connection that is opened on demand, and opened again when it is lost. */
export class BusSession {
  readonly #options: BusSessionOptions
  #session: ReturnType<typeof startSession> | undefined

  constructor(options: BusSessionOptions) {
    this.#options = options
  }

  /** Resolves when the connection listens. Rejects when the current attempt to open it fails. */
  ensureOpen(): Promise<void> {
    this.#session ??= this.#startSession()
    return this.#session.ensureOpen()
  }

  /** The server has answered over another connection, so the next attempt need not wait for long. */
  retrySoon(): void {
    this.#session?.retrySoon()
  }

  /** Closes the connection at once. {@link BusSession.ensureOpen} opens it again. */
  close(): void {
    const closedSession = this.#session
    this.#session = undefined
    closedSession?.close()
  }

  #startSession(): ReturnType<typeof startSession> {
    const session = startSession(this.#options, () => {
      if (this.#session === session) this.#session = undefined
    })
    return session
  }
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function startSession(
  options: BusSessionOptions,
  onEnd: () => void,
): Pick<BusSession, 'ensureOpen' | 'retrySoon' | 'close'> {
  const { clock, name, onError, onGap, random } = options
  const endController = new AbortController()
  let endSleep = (): void => {}
  let waiters: Waiter[] = []
  let isOpen = false
  let openedAt: number | undefined
  /** When the last attempt failed. Undefined if it succeeded. */
  let failedAt: number | undefined

  const finishWaiters = (settle: (waiter: Waiter) => void): void => {
    const finishedWaiters = waiters
    waiters = []
    for (const waiter of finishedWaiters) settle(waiter)
  }
  const onOpen = (): void => {
    const isReconnected = openedAt !== undefined
    isOpen = true
    openedAt = clock.monotonicNow()
    failedAt = undefined
    if (isReconnected) onGap()
    finishWaiters(({ resolve }) => resolve())
  }
  const onLost = (error: unknown): void => {
    if (!isOpen) failedAt = clock.monotonicNow()
    isOpen = false
    // Ended before its waiters are rejected, so that a caller that listens after a rejection gets a new session.
    if (openedAt === undefined) onEnd()
    else onError(error)
    finishWaiters(({ reject }) => reject(error))
  }

  const runConnections = async (): Promise<void> => {
    for (let failureCount = 0; ; failureCount++) {
      const previousOpenedAt = openedAt
      await keepConnectionOpen(options, endController.signal, { onOpen, onLost })
      // It never opened and its waiters were rejected, so the session has ended.
      if (openedAt === undefined) return
      // Breaking as soon as it is open counts as a failure, because each reconnection makes every listener read
      // everything again.
      if (openedAt !== previousOpenedAt && clock.monotonicNow() - openedAt >= healthyAfterMs) failureCount = 0
      if (waiters.length === 0 && !endController.signal.aborted)
        await sleep(computeReconnectDelayMs(failureCount, random), { clock, registerWake: (wake) => (endSleep = wake) })
      if (endController.signal.aborted) return
    }
  }

  const waitUntilOpen = (): Promise<void> => {
    if (isOpen) return Promise.resolve()
    const openPromise = new Promise<void>((resolve, reject) => waiters.push({ resolve, reject }))
    // The caller needs the connection now, so the next attempt starts at once. Its failure rejects this promise.
    endSleep()
    return openPromise
  }
  const retrySoon = (): void => {
    if (failedAt !== undefined && clock.monotonicNow() - failedAt >= minRetryDelayMs) endSleep()
  }
  const close = (): void => {
    isOpen = false
    endController.abort()
    endSleep()
    finishWaiters(({ reject }) => reject(new BusError('unavailable', `${name} is no longer listened to: listen again`)))
  }
  void runConnections()
  return { ensureOpen: waitUntilOpen, retrySoon, close }
}
