import type { Clock } from '../runtime.ts'
import { sleep, withTimeout } from '../waiting.ts'
import { BusError, busUnavailableError } from './change-bus.ts'

/** The events of an open connection. */
export interface ConnectionHandlers {
  readonly handleMessage: (text: string) => void
  /** The connection is lost, or no longer to be trusted. */
  readonly handleLoss: (error: unknown) => void
}

/** A connection that listens to a channel. */
export interface Connection {
  /** Makes a round trip to the other side, or rejects. */
  ping(): Promise<unknown>
}

/**
 * Opens a connection, and resolves when it receives everything that is sent from then on. When the signal aborts, the
 * connection closes, however far it has come.
 */
export type ConnectFunction = (handlers: ConnectionHandlers, signal: AbortSignal) => Promise<Connection>

/** The options of a watched connection. */
export interface ConnectionOptions {
  /** The name of the other side in logs. */
  readonly name: string
  readonly connect: ConnectFunction
  readonly onMessage: (text: string) => void
  /** The time limit of opening and of each ping, in milliseconds. */
  readonly timeoutMs: number
  /** Milliseconds from one ping to the next. */
  readonly keepAliveMs: number
  readonly clock: Clock
}

/** The owner of one connection. */
export interface ConnectionOwner {
  /** Aborts when the connection is no longer wanted. */
  readonly signal: AbortSignal
  readonly onOpen: () => void
  /** The connection could not be opened, or was lost. Not called once the signal has aborted. */
  readonly onLost: (error: unknown) => void
}

/**
 * Holds one connection, from its opening until it fails, is lost or is no longer wanted. Never rejects, and leaves
 * nothing open.
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
    // Aborts at once, and not when a promise settles: by then the driver would have begun to reconnect by itself.
    attemptController.abort()
    if (!signal.aborted) onLost(busUnavailableError(name, error))
    resolveEnd()
  }
  const handleAbort = (): void => failConnection(signal.reason)
  signal.addEventListener('abort', handleAbort)
  // Messages of a closing connection belong to the time before.
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
 * Detects a peer that has disappeared without closing the connection, which no socket reports in time. Rejects then,
 * and when the signal aborts.
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

/** The parameters of a time limit. */
export interface BusTimeoutOptions {
  /** The name of the other side in logs. */
  readonly name: string
  readonly limitMs: number
  readonly clock: Clock
  /** The advice at the end of the message when the limit is exceeded. */
  readonly advice: string
}

/**
 * Runs work of a driver within a time limit: some drivers wait for ever while they are not connected. At the limit the
 * work's signal aborts.
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
