import type { Clock } from '../runtime.ts'
import { sleep, withTimeout } from '../waiting.ts'
import { BusError, busUnavailableError } from './change-bus.ts'

/** Listens to a channel. */
export interface Connection {
  /** Makes a round trip to the database or message broker. Rejects when that fails. */
  ping(): Promise<unknown>
}

/**
 * Resolves when everything that is sent from then on will be received. Calls `handleLoss` when the connection is lost,
 * or cannot be trusted any more. When the signal aborts, the connection closes, even while it is being opened.
 */
export type ConnectFunction = (
  handlers: { readonly handleMessage: (text: string) => void; readonly handleLoss: (error: unknown) => void },
  signal: AbortSignal,
) => Promise<Connection>

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

/**
 * Opens one connection, and keeps it until it fails, is lost or the signal aborts. Resolves when it is closed, and
 * never rejects. Calls `onLost` if the connection could not be opened or was lost, but not once the signal has aborted.
 */
export async function keepConnectionOpen(
  options: ConnectionOptions,
  signal: AbortSignal,
  { onOpen, onLost }: { readonly onOpen: () => void; readonly onLost: (error: unknown) => void },
): Promise<void> {
  const { name, connect, onMessage } = options
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
    const advice = 'is it running, and is a connection free to listen on?'
    const pendingConnection = withBusTimeout(options, advice, () =>
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
  while (!signal.aborted) {
    await sleep(options.keepAliveMs, { clock: options.clock, signal })
    await withBusTimeout(options, 'the connection that listens is opened again', () => connection.ping())
  }
}

/**
 * Some drivers wait forever while they are not connected. At the limit, the signal that the work received aborts, and
 * the message of the error ends with `advice`.
 *
 * @throws BusError with `unavailable` for every error of the driver.
 */
export async function withBusTimeout<T>(
  { name, timeoutMs, clock }: Pick<ConnectionOptions, 'name' | 'timeoutMs' | 'clock'>,
  advice: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const createTimeoutError = (): BusError =>
    new BusError('unavailable', `${name} did not answer within ${timeoutMs} ms: ${advice}`)
  try {
    return await withTimeout({ timeoutMs, clock, createTimeoutError }, work)
  } catch (error) {
    throw busUnavailableError(name, error)
  }
}
