import type { ChangeBus } from '@x/core'
import { memoryStore, type StateStore } from '@x/state-codec'
import type { TaskObservations } from '../invariants/watched-engine.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { createEffectLog, type EffectLog } from './effects.ts'
import type { RemoteService } from './remote.ts'
import { createBroker } from './remote-bus.ts'
import { remoteEngine } from './remote-engine.ts'
import { remoteStore } from './remote-store.ts'
import { restorableStore } from './restorable.ts'
import { createWatchedTasks } from './watched-tasks.ts'

/** The services that all instances share. */
export interface Services {
  readonly effects: EffectLog
  readonly tasks: TaskObservations
  readonly services: readonly RemoteService[]
  /** Returns the bus of an instance. */
  busOf(host: Host): ChangeBus
  /** Returns the engine of the current instance. */
  engineOf(bus: ChangeBus): ReturnType<typeof remoteEngine>
  /** Returns the store of the current instance. */
  storeOf(): StateStore
  /**
   * Makes a service available again. If `lostMs` is given, an engine or a store returns with the state that it had so
   * many milliseconds ago. The broker returns without its connections.
   */
  restore(service: RemoteService, lostMs: number | undefined): Promise<void>
  /** True once the store of sessions and rounds has lost writes. Then a round may run twice, and a session forget. */
  readonly hasStoreLostWrites: boolean
}

/**
 * Creates the services of one simulation: an engine of tasks, a store, a message broker, and an external system with
 * effects.
 */
export function createServices(context: SimulationContext): Services {
  const { time, faults } = context
  const createService = (name: string, clockOffsetMs = 0): RemoteService => ({
    host: time.addHost(name, clockOffsetMs),
    availability: 'available',
  })
  const [engine, store, broker, bank] = [
    createService('engine'),
    createService('store'),
    createService('broker'),
    createService('effects'),
  ]
  let hasStoreLostWrites = false
  const tasks = createWatchedTasks(context)
  const values = restorableStore((now) => memoryStore({ runtime: { now } }))
  const messages = createBroker(context, broker)
  const effects = createEffectLog(context, bank)
  const loseWrites = async (service: RemoteService, lostMs: number): Promise<void> => {
    faults.record(service.host.name, 'returns_older', `${Math.round(lostMs)} ms`)
    if (service === store) hasStoreLostWrites = true
    await (service === engine ? tasks : values).returnTo(Date.now() - lostMs)
  }
  return {
    effects: {
      ...effects,
      // A claim that the store has lost does not prevent a second run.
      begin: (step) => void (hasStoreLostWrites || effects.begin(step)),
    },
    get tasks() {
      return tasks.observations
    },
    get hasStoreLostWrites() {
      return hasStoreLostWrites
    },
    services: [engine, store, broker],
    busOf: messages.busOf,
    engineOf: (bus) => remoteEngine(context, engine, { shared: tasks.service, bus }),
    storeOf: () => remoteStore(context, store, values.service),
    restore: async (service, lostMs) => {
      if (service.availability === 'available') return
      if (lostMs !== undefined && (service === engine || service === store)) await loseWrites(service, lostMs)
      service.availability = 'available'
      if (service === broker) messages.breakConnections()
    },
  }
}
