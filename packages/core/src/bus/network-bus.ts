import { checkedNumber } from '../checked-number.ts'
import { type Log, PartLog } from '../log.ts'
import { createFailureReporter } from '../outage-log.ts'
import { type Clock, platformRuntime } from '../runtime.ts'
import { maxTimerMs } from '../waiting.ts'
import type { ChangeBus } from './change-bus.ts'
import { decodeMessage, encodeChange } from './change-text.ts'
import { type ConnectFunction, withBusTimeout } from './connection.ts'
import { BusSession } from './bus-session.ts'
import { ListenerRegistry } from './memory-bus.ts'

/** A bus over a network. A client that it made of a URL is its own. */
export interface NetworkBus extends ChangeBus {
  /** Closes the client, once no listener is left. Does nothing for a client or a pool of the application. */
  close(): Promise<void>
}

/** Options that every bus over a network has. */
export interface NetworkBusOptions {
  /**
   * Gets background errors: a lost connection, an unreadable message, an error that a listener threw. Default: the log
   * of the server that gets the bus, or else a line each on stderr.
   */
  readonly log?: Log | undefined
  /** Time limit of publishing, of a ping, and of opening the listening connection, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number | undefined
  /**
   * Milliseconds between two pings of the listening connection. Default: 10000. It must be less than the
   * `socketTimeout` of a Redis client, which closes silent connections.
   */
  readonly keepAliveMs?: number | undefined
}

/** What a bus needs of a database or message broker. */
export interface BusConnector {
  /** The database or message broker, in logs. */
  readonly name: string
  readonly maxMessageBytes: number
  readonly connect: ConnectFunction
  /** Sends a message to every connection that listens to the channel. The signal aborts when the time limit is over. */
  readonly send: (text: string, signal: AbortSignal) => Promise<unknown>
  /** Makes a round trip over a connection that sends messages. The signal aborts when the time limit is over. */
  readonly ping: (signal: AbortSignal) => Promise<unknown>
  /** What to do about it, at the end of the message when sending exceeds its time limit. */
  readonly advice: string
}

/** For all drivers. */
export const defaultTimeoutMs = 5_000

const defaultKeepAliveMs = 10_000

/** A timer of the platform takes at most 31 bits, and fires at once for longer. */
const durationBounds = { max: maxTimerMs, isWhole: false }

/**
 * All listeners share one connection, which is opened with the first listener and closed with the last one.
 *
 * @throws RangeError for an invalid time.
 */
export function createNetworkBus(
  connector: BusConnector,
  options: NetworkBusOptions,
  clock: Clock = platformRuntime,
): ChangeBus {
  const timeoutMs = checkedNumber('timeoutMs', options.timeoutMs ?? defaultTimeoutMs, durationBounds)
  const keepAliveMs = checkedNumber('keepAliveMs', options.keepAliveMs ?? defaultKeepAliveMs, durationBounds)
  const { name, maxMessageBytes } = connector
  const log = new PartLog(options.log, '@x/core')
  const failures = createFailureReporter(log.write, name, { name: 'change bus', clock })
  const onError = failures.report
  const listeners = new ListenerRegistry(onError)
  const shared = { name, timeoutMs, clock }
  const session = new BusSession({
    ...shared,
    connect: connector.connect,
    onMessage: (text) => {
      try {
        const message = decodeMessage(text, maxMessageBytes)
        if ('gap' in message) listeners.notifyGap()
        else listeners.notifyChange(message)
      } catch (error) {
        onError(error)
      }
    },
    onGap: () => {
      failures.end()
      listeners.notifyGap()
    },
    onError,
    keepAliveMs,
    random: Math.random,
  })
  const request = async (work: (signal: AbortSignal) => Promise<unknown>): Promise<void> => {
    await withBusTimeout(shared, connector.advice, work)
    session.retrySoon()
  }
  return {
    publish: async (change) => {
      const text = encodeChange(change, maxMessageBytes)
      await request((signal) => connector.send(text, signal))
    },
    async listen(listener) {
      const detachListener = listeners.add(listener)
      const stopListening = (): void => {
        detachListener()
        if (listeners.count === 0) session.close()
      }
      try {
        await session.ensureOpen()
      } catch (error) {
        stopListening()
        throw error
      }
      return stopListening
    },
    ping: () => request(connector.ping),
    useLog: log.use,
  }
}
