import { type Change, type ChangeBus, type ChangeListener, memoryBus } from '@x/core'
import type { Host } from '../platform/virtual-time.ts'
import { callRemote, type RemoteContext, type RemoteService } from './remote.ts'

/** A message broker that loses changes while it is unavailable, and then reports a gap to its listeners. */
export interface Broker {
  /** Returns the bus of one instance. */
  busOf(host: Host): ChangeBus
  /** Reports a gap to every listener, after an outage of the broker. */
  reportGap(): void
}

/** Creates a broker without listeners. */
export function createBroker(context: RemoteContext, service: RemoteService): Broker {
  const { time, faults } = context
  const shared = memoryBus()
  const gapReporters = new Set<() => void>()
  const listen = async (host: Host, listener: ChangeListener): Promise<() => void> => {
    let isStopped = false
    // The connection of a listener preserves the order of changes.
    let lastArrival = 0
    const forward = (run: () => void): void => {
      lastArrival = Math.max(lastArrival, time.now() + faults.delayMs())
      time.schedule(host, lastArrival - time.now(), () => void (isStopped || run()))
    }
    const reportGap = (): void => forward(listener.onGap)
    let stop = (): void => {}
    await callRemote(context, service, {
      name: 'listen',
      run: async () => {
        gapReporters.add(reportGap)
        stop = await shared.listen({
          onChange: (change) => {
            if (service.availability === 'available') forward(() => listener.onChange(change))
          },
          onGap: () => {},
        })
      },
    })
    return () => {
      isStopped = true
      gapReporters.delete(reportGap)
      stop()
    }
  }
  return {
    busOf: (host) => ({
      publish: (change: Change) => {
        const copy = structuredClone(change)
        return callRemote(context, service, { name: `publish ${change.topic}`, run: () => shared.publish(copy) })
      },
      listen: (listener) => listen(host, listener),
      ping: () => callRemote(context, service, { name: 'ping', run: async () => {} }),
    }),
    reportGap: () => {
      for (const report of gapReporters) report()
    },
  }
}
