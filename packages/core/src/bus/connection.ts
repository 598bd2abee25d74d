import type { Clock } from '../runtime.ts'
import { sleep, withTimeout } from '../waiting.ts'
import { BusError, busUnavailableError } from './change-bus.ts'

export interface ConnectionHandlers {
  readonly handleMessage: (text: string) => void
  /** The connection is lost, or cannot be trusted any more. */
  readonly handleLoss: (error: unknown) => void
}

/** Listens to a channel. */
export interface Connection {
  /** Makes a round trip to the database or message broker. Rejects when that fails. */
  ping(): Promise<unknown>
}

/**
 * Resolves when everything that is sent from then on will be received. When the signal aborts, the connection closes,
 * even while it is being opened.
 */
export type ConnectFunction = (handlers: ConnectionHandlers, signal: AbortSignal) => Promise<Connection>

export interface ConnectionOptions {
  /** The database or message broker, in logs. */
  readonly name: string
  readonly connect: ConnectFunction
  readonly onMessage: (text: string) => void
  /** For opening the connection, and for each ping. */
  readonly timeoutMs: number
  /** Milliseconds between two pings. */
  readonly keepAliveMs: number
  readonly clock: Clock
}

export interface ConnectionOwner {
  /** The connection is no longer wanted. */
  readonly signal: AbortSignal
  readonly onOpen: () => void
  /** The connection could not be opened, or was lost. Not called once the signal has aborted. */
  readonly onLost: (error: unknown) => void
}

/**
 * Opens one connection, and keeps it until it fails, is lost or is no longer wanted. Resolves when it is closed, and
 * never rejects.
 */
export async function keepConnectionOpen(
  options: ConnectionOptions,
  { signal, onOpen, onLost }: ConnectionOwner,
): Promise<void> {
  const { name, connect, onMessage, timeoutMs: limitMs, clock } = options
  const attemptController = new AbortController()
  let resolveEnd = (): void => {}
  const connectionEnd = new Promise<void>((resolve) => {
    resolveEnd = resolve
  })
  const failConnection = (error: unknown): void => {
    if (attemptController.signal.aborted) return
    // Aborted here and not after a promise settles: until then the driver would begin to reconnect by itself.
    attemptController.abort()
    if (!signal.aborted) onLost(busUnavailableError(name, error))
    resolveEnd()
  }
  const handleAbort = (): void => failConnection(signal.reason)
  signal.addEventListener('abort', handleAbort)
  // Messages that arrive on a closing connection are dropped.
  const forwardMessage = (text: string): void => void (attemptController.signal.aborted || onMessage(text))
  try {
    const timeoutOptions = { name, limitMs, clock, advice: 'is it running, and is a connection free to listen on?' }
    const pendingConnection = withBusTimeout(timeoutOptions, () =>
      connect({ handleMessage: forwardMessage, handleLoss: failConnection }, attemptController.signal),
    )
    const connection = await Promise.race([pendingConnection, connectionEnd])
    if (connection === undefined || attemptController.signal.aborted) return
    onOpen()
    await Promise.race([pingUntilAborted(options, connection, attemptController.signal), connectionEnd])
  } catch (error) {
    failConnection(error)
  } finally {
    signal.removeEventListener('abort', handleAbort)
  }
}

/**
 * Pings find a peer that disappeared without closing the connection, which the socket does not report in time. Rejects
 * when one fails or the signal aborts.
 */
async function pingUntilAborted(
  options: ConnectionOptions,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { name, clock, timeoutMs: limitMs, keepAliveMs } = options
  const timeoutOptions = { name, limitMs, clock, advice: 'the connection that listens is opened again' }
  while (!signal.aborted) {
    await sleep(keepAliveMs, { clock, signal })
    await withBusTimeout(timeoutOptions, () => connection.ping())
  }
}

export interface BusTimeoutOptions {
  /** The database or message broker, in logs. */
  readonly name: string
  readonly limitMs: number
  readonly clock: Clock
  /** What to do about it, at the end of the message when the limit is exceeded. */
  readonly advice: string
}

/**
 * Some drivers wait forever while they are not connected. At the limit, the signal that the work received aborts.
 *
 * @throws BusError with `unavailable` for every error of the driver.
 */
export async function withBusTimeout<T>(
  { name, limitMs, clock, advice }: BusTimeoutOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const createTimeoutError = (): BusError =>
    new BusError('unavailable', `${name} did not answer within ${limitMs} ms: ${advice}`)
  try {
    return await withTimeout({ timeoutMs: limitMs, clock, createTimeoutError }, work)
  } catch (error) {
    throw busUnavailableError(name, error)
  }
}
