import type { ChangeBus } from '@x/core'
import { memoryStore, type StateStore } from '@x/state-codec'
import type { TaskEngine } from '@x/tasks'
import { memoryEngine } from '@x/tasks/memory'
import { type TaskObservations, watchEngine } from '../invariants/watched-engine.ts'
import type { Host } from '../platform/virtual-time.ts'
import type { SimulationContext } from '../simulation-context.ts'
import { createEffectLog, type EffectLog } from './effects.ts'
import type { RemoteService } from './remote.ts'
import { createBroker } from './remote-bus.ts'
import { remoteEngine } from './remote-engine.ts'
import { remoteStore } from './remote-store.ts'

/** The services that all instances share. */
export interface Services {
  readonly effects: EffectLog
  readonly tasks: TaskObservations
  readonly services: readonly RemoteService[]
  /** Returns the bus of an instance. */
  busOf(host: Host): ChangeBus
  /** Returns the engine of the current instance. */
  engineOf(bus: ChangeBus): TaskEngine
  /** Returns the store of the current instance. */
  storeOf(): StateStore
  /** Returns the items to which a call of a session adds. */
  pickItems(items: readonly string[]): readonly string[]
  /** Makes a service available again. */
  restore(service: RemoteService): void
}

/** The lease of a task, in milliseconds. */
const leaseMs = 3000

/**
 * Creates the services of one simulation: an engine of tasks, a store, a message broker, and an external system with
 * effects.
 */
export function createServices(context: SimulationContext): Services {
  const { time, trace, report, defects } = context
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
  const storedTasks = memoryEngine({ leaseMs })
  const { engine: shared, observations } = watchEngine({
    engine: defects.engine?.(storedTasks) ?? storedTasks,
    report,
    trace,
    now: time.now,
  })
  const storedValues = memoryStore()
  const sharedStore = defects.store?.(storedValues) ?? storedValues
  const messages = createBroker(context, broker)
  return {
    effects: createEffectLog(context, bank),
    tasks: observations,
    services: [engine, store, broker],
    busOf: (host) => defects.bus?.(messages.busOf(host)) ?? messages.busOf(host),
    pickItems: defects.createPicker?.() ?? ((items) => items),
    engineOf: (bus) => remoteEngine(context, engine, { shared, bus }),
    storeOf: () => remoteStore(context, store, sharedStore),
    restore: (service) => {
      if (service.availability === 'available') return
      service.availability = 'available'
      if (service === broker) messages.reportGap()
    },
  }
}
