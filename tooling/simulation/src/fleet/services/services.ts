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
import { restorableEngine, restorableStore } from './restorable.ts'

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
  /**
   * Makes a service available again. If `lostMs` is given, an engine or a store returns with the state that it had so
   * many milliseconds ago.
   */
  restore(service: RemoteService, lostMs: number | undefined): Promise<void>
  /** True once the store of sessions and rounds has lost writes. Then a round may run twice, and a session forget. */
  readonly hasStoreLostWrites: boolean
}

/** The lease of a task, in milliseconds. */
const leaseMs = 3000

/**
 * Creates the services of one simulation: an engine of tasks, a store, a message broker, and an external system with
 * effects.
 */
export function createServices(context: SimulationContext): Services {
  const { time, trace, report, defects, faults } = context
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
  let isRepeating = false
  let hasStoreLostWrites = false
  // The model of the tasks returns to the earlier state with the engine.
  let observations: TaskObservations = { endedAt: new Map(), ids: [] }
  const tasks = restorableEngine((wallClock) => {
    const storedTasks = memoryEngine({ leaseMs, wallClock })
    const watched = watchEngine({
      engine: defects.engine?.(storedTasks) ?? storedTasks,
      report: (...violation) => void (isRepeating || report(...violation)),
      trace: { ...trace, add: (...line) => void (isRepeating || trace.add(...line)) },
      now: time.now,
    })
    observations = watched.observations
    return watched.engine
  })
  const values = restorableStore((now) => {
    const storedValues = memoryStore({ runtime: { now } })
    return defects.store?.(storedValues) ?? storedValues
  })
  const messages = createBroker(context, broker)
  const effects = createEffectLog(context, bank)
  const loseWrites = async (service: RemoteService, lostMs: number): Promise<void> => {
    faults.record(service.host.name, 'returns_older', `${Math.round(lostMs)} ms`)
    if (service === store) hasStoreLostWrites = true
    isRepeating = true
    await (service === engine ? tasks : values).returnTo(Date.now() - lostMs)
    isRepeating = false
  }
  return {
    effects: {
      ...effects,
      // A claim that the store has lost does not prevent a second run.
      begin: (step) => void (hasStoreLostWrites || effects.begin(step)),
    },
    get tasks() {
      return observations
    },
    get hasStoreLostWrites() {
      return hasStoreLostWrites
    },
    services: [engine, store, broker],
    busOf: (host) => defects.bus?.(messages.busOf(host)) ?? messages.busOf(host),
    pickItems: defects.createPicker?.() ?? ((items) => items),
    engineOf: (bus) => remoteEngine(context, engine, { shared: tasks.service, bus }),
    storeOf: () => remoteStore(context, store, values.service),
    restore: async (service, lostMs) => {
      if (service.availability === 'available') return
      if (lostMs !== undefined && service !== broker) await loseWrites(service, lostMs)
      service.availability = 'available'
      if (service === broker) messages.reportGap()
    },
  }
}
