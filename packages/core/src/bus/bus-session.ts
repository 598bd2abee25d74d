import { BusError } from './change-bus.ts'
import { type ConnectionOptions, keepConnectionOpen } from './connection.ts'
import { sleep } from '../waiting.ts'

/** The shortest pause before a connection is opened again, in milliseconds. */
export const minReconnectDelayMs = 250

/** The longest one, in milliseconds. */
export const maxReconnectDelayMs = 30_000

/** The lifetime of a connection that does not count as a failure, in milliseconds. */
export const healthyAfterMs = maxReconnectDelayMs

/** Returns the milliseconds to wait after a number of consecutive failures: longer each time, with jitter. */
export function computeReconnectDelayMs(failureCount: number, random: () => number): number {
  const currentMaxDelayMs = Math.min(maxReconnectDelayMs, minReconnectDelayMs * 2 ** (failureCount + 1))
  return minReconnectDelayMs + random() * (currentMaxDelayMs - minReconnectDelayMs)
}

/** The options of a {@link BusSession}. */
export interface BusSessionOptions extends ConnectionOptions {
  /** The connection is open again, and messages sent meanwhile are lost. */
  readonly onGap: () => void
  /** Receives the loss of an open connection, and the failures of attempts to open it again. */
  readonly onError: (error: unknown) => void
  /** A number from 0 to 1, for the jitter. */
  readonly random: () => number
}

/** A connection that is opened when it is wanted, and opened again when it is lost. */
export interface BusSession {
  /** Resolves when the line hears; rejects when the attempt that is under way, or that this call begins, fails. */
  ensureOpen(): Promise<void>
  /** Closes the line, now; {@link BusSession.ensureOpen} opens it again. */
  close(): void
}

/** Makes a {@link BusSession}, closed. */
export function createBusSession(options: BusSessionOptions): BusSession {
  let session: BusSession | undefined
  const startNewSession = (): BusSession => {
    const newSession = startSession(options, () => {
      if (session === newSession) session = undefined
    })
    return newSession
  }
  return {
    ensureOpen() {
      session ??= startNewSession()
      return session.ensureOpen()
    },
    close() {
      const closedSession = session
      session = undefined
      closedSession?.close()
    },
  }
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

function startSession(options: BusSessionOptions, onEnd: () => void): BusSession {
  const { clock, name, onError, onGap, random } = options
  const endController = new AbortController()
  let endSleep = (): void => {}
  let waiters: Waiter[] = []
  let isOpen = false
  let openedAt: number | undefined

  const finishWaiters = (settle: (waiter: Waiter) => void): void => {
    const finishedWaiters = waiters
    waiters = []
    for (const waiter of finishedWaiters) settle(waiter)
  }
  const onOpen = (): void => {
    const isReconnected = openedAt !== undefined
    isOpen = true
    openedAt = clock.monotonicNow()
    if (isReconnected) onGap()
    finishWaiters(({ resolve }) => resolve())
  }
  const onLost = (error: unknown): void => {
    isOpen = false
    // Before anybody hears of it, for who asks next must not come into what is over.
    if (openedAt === undefined) onEnd()
    else onError(error)
    finishWaiters(({ reject }) => reject(error))
  }

  const runConnections = async (): Promise<void> => {
    for (let failureCount = 0; ; failureCount++) {
      const previousOpenedAt = openedAt
      await keepConnectionOpen(options, { signal: endController.signal, onOpen, onLost })
      // Nobody has heard anything yet, and whoever wanted to has been told: there is nothing to come back to.
      if (openedAt === undefined) return
      // A line that breaks as soon as it is there counts as a failure: each return makes everybody read everything
      // again.
      if (openedAt !== previousOpenedAt && clock.monotonicNow() - openedAt >= healthyAfterMs) failureCount = 0
      if (waiters.length === 0 && !endController.signal.aborted)
        await sleep(computeReconnectDelayMs(failureCount, random), { clock, registerWake: (wake) => (endSleep = wake) })
      if (endController.signal.aborted) return
    }
  }

  const waitUntilOpen = (): Promise<void> => {
    if (isOpen) return Promise.resolve()
    const openPromise = new Promise<void>((resolve, reject) => waiters.push({ resolve, reject }))
    // Somebody wants the line now, and is told at once when it is still away.
    endSleep()
    return openPromise
  }
  const close = (): void => {
    isOpen = false
    endController.abort()
    endSleep()
    finishWaiters(({ reject }) => reject(new BusError('unavailable', `${name} is no longer listened to: listen again`)))
  }
  void runConnections()
  return { ensureOpen: waitUntilOpen, close }
}
