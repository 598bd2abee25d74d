import type { ChangeBus } from '@x/core'
import { redisBus, type RedisClient, type RedisSubscriber } from '@x/core/redis'
import type { Host } from '../platform/virtual-time.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { callRemote, type RemoteService } from './remote.ts'

/** A Redis that passes messages to the connections that listen, and stores none. */
export interface Broker {
  /** Returns the bus of one instance, which is the real one over a client of this Redis. */
  busOf(host: Host): ChangeBus
  /** Breaks all listening connections, as a restart does. */
  breakConnections(): void
}

interface ListeningConnection {
  deliver(text: string): void
  /** Breaks the connection. Its client is notified after a delay. */
  break(): void
}

/** Creates a broker without connections. */
export function createBroker(context: SimulationContext, service: RemoteService): Broker {
  const { time, faults, trace } = context
  const connections = new Set<ListeningConnection>()
  const call = (name: string, run: () => Promise<void>): Promise<void> => callRemote(context, service, { name, run })
  const createSubscriber = (host: Host): RedisSubscriber => {
    let isDestroyed = false
    // A connection preserves the order of messages.
    let lastArrival = 0
    const forward = (run: () => void): void => {
      lastArrival = Math.max(lastArrival, time.now() + faults.delayMs())
      time.schedule(host, lastArrival - time.now(), () => void (isDestroyed || run()))
    }
    let onError = (_error: unknown): void => {}
    let onMessage = (_text: string): void => {}
    const connection: ListeningConnection = {
      deliver: (text) => {
        if (service.availability !== 'available') return
        if (faults.pickFault(['cut']) === 'none') return forward(() => onMessage(text))
        faults.record(host.name, 'cut', 'listening connection')
        connection.break()
      },
      break: () => {
        connections.delete(connection)
        forward(() => onError(new Error('The listening connection was closed')))
      },
    }
    return {
      on: (_event, listener) => (onError = listener),
      connect: () => call('connect', async () => {}),
      subscribe: (_channel, listener) =>
        call('subscribe', async () => {
          onMessage = listener
          connections.add(connection)
        }),
      sendCommand: () => call('ping', async () => {}),
      destroy: () => {
        isDestroyed = true
        connections.delete(connection)
      },
    }
  }
  const createClient = (host: Host): RedisClient => ({
    sendCommand: ([command = '', _channel, text]) =>
      call(command.toLowerCase(), async () => {
        if (text !== undefined) for (const { deliver } of connections) deliver(text)
      }),
    duplicate: () => createSubscriber(host),
  })
  return {
    busOf: (host) => redisBus(createClient(host), { log: ({ err }) => trace.add(host.name, `bus: ${String(err)}`) }),
    breakConnections: () => {
      for (const { break: breakConnection } of connections) breakConnection()
    },
  }
}
