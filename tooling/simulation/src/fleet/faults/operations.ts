import type { Fleet } from '../fleet/fleet.ts'
import type { VirtualTime } from '../platform/virtual-time.ts'
import type { RemoteService } from '../services/remote.ts'
import type { Services } from '../services/services.ts'
import type { Faults } from './faults.ts'

interface OperationDeps {
  readonly time: VirtualTime
  readonly faults: Faults
  readonly fleet: Fleet
  readonly services: Services
  /** True if services return from an outage with an earlier state, as after a fail-over. */
  readonly losesWrites: boolean
}

/**
 * Times in milliseconds: between two operations, of a frozen instance, of an outage, and until a replacement starts.
 */
const pauses = { minMs: 500, maxMs: 5000 }
const freezes = { minMs: 200, maxMs: 9000 }
const outages = { minMs: 100, maxMs: 7000 }
const replacements = { minMs: 100, maxMs: 3000 }

/** The most that a service loses in an outage, in milliseconds before the outage ends. */
const maxLostMs = 9000

/**
 * Schedules operations until the faults end: instances are killed, stopped and frozen, and services become unavailable.
 */
export function scheduleOperations({ time, faults, fleet, services, losesWrites }: OperationDeps): void {
  const pickDuration = ({ minMs, maxMs }: { minMs: number; maxMs: number }): number =>
    minMs + faults.random() * (maxMs - minMs)
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(faults.random() * values.length)]
  const replace = (): void => void time.schedule(undefined, pickDuration(replacements), fleet.start)
  const breakService = (service: RemoteService | undefined): void => {
    if (service === undefined || service.availability !== 'available') return
    const availability = faults.random() < 0.5 ? 'unavailable' : 'silent'
    faults.record(service.host.name, availability)
    service.availability = availability
    const lostMs = losesWrites ? faults.random() * maxLostMs : undefined
    time.schedule(undefined, pickDuration(outages), () => void services.restore(service, lostMs))
  }
  const operate = (): void => {
    if (!faults.isActive) return
    time.schedule(undefined, pickDuration(pauses), operate)
    const instance = pick(fleet.instances.filter(({ host }) => host.state === 'running'))
    const kind = faults.random()
    if (kind > 0.75) return breakService(pick(services.services))
    if (instance === undefined) return
    if (kind < 0.3) {
      fleet.kill(instance)
      replace()
    } else if (kind < 0.45) {
      fleet.stop(instance)
      replace()
    } else fleet.freeze(instance, pickDuration(freezes))
  }
  time.schedule(undefined, pickDuration(pauses), operate)
}
