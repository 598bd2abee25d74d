import type { Fleet } from '../fleet/fleet.ts'
import type { KeyRotation } from '../fleet/key-rotation.ts'
import type { RemoteService } from '../services/remote.ts'
import type { Services } from '../services/services.ts'
import type { SimulationContext } from '../simulation-context.ts'

interface OperationDeps extends SimulationContext {
  readonly fleets: readonly Fleet[]
  readonly services: Services
  /** The ways to servers that may be interrupted. */
  readonly paths: readonly RemoteService[]
  /** True if services return from an outage with an earlier state, as after a fail-over. */
  readonly losesWrites: boolean
  /** True if instances are only stopped, as in a rolling deploy, while nothing else fails. */
  readonly onlyDeploys: boolean
}

/**
 * Times in milliseconds at the pace of seconds: between two operations, of a frozen instance, of an outage, and until a
 * replacement starts.
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
export function scheduleOperations(deps: OperationDeps): void {
  const { time, faults, fleets, services, paths, losesWrites, onlyDeploys, pace } = deps
  const pickDuration = ({ minMs, maxMs }: { minMs: number; maxMs: number }): number =>
    pace * (minMs + faults.random() * (maxMs - minMs))
  const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(faults.random() * values.length)]
  const breakService = (service: RemoteService | undefined): void => {
    if (service === undefined || service.availability !== 'available') return
    const availability = faults.random() < 0.5 ? 'unavailable' : 'silent'
    faults.record(service.host.name, availability)
    service.availability = availability
    const lostMs = losesWrites ? pace * faults.random() * maxLostMs : undefined
    time.schedule(undefined, pickDuration(outages), () => void services.restore(service, lostMs))
  }
  const changeInstance = (fleet: Fleet, kind: number): void => {
    const instance = pick(fleet.instances.filter(({ host }) => host.state === 'running'))
    if (instance === undefined || (onlyDeploys && !fleet.startsInstances)) return
    if (kind >= 0.45) return fleet.freeze(instance, pickDuration(freezes))
    // A deploy starts an instance before it stops another.
    if (onlyDeploys) fleet.start()
    else time.schedule(undefined, pickDuration(replacements), fleet.start)
    if (kind < 0.3) fleet.kill(instance)
    else fleet.stop(instance)
  }
  const operate = (): void => {
    if (!faults.isActive) return
    time.schedule(undefined, pickDuration(pauses), operate)
    const kind = onlyDeploys ? 0.3 : faults.random()
    const fleet = pick(fleets)
    if (kind > 0.75) breakService(pick([...services.services, ...paths]))
    else if (fleet !== undefined) changeInstance(fleet, kind)
  }
  time.schedule(undefined, pickDuration(pauses), operate)
}

/** Schedules the phases of a rotation. Each begins when no instance of the last is left, and replaces all instances. */
export function scheduleRotation({ time, faults, fleets, pace }: OperationDeps, rotation: KeyRotation): void {
  const rotate = (): void => {
    if (!faults.isActive || !rotation.advance()) return
    faults.record('-', 'keys_rotated')
    const old = fleets.flatMap((fleet) => fleet.instances.map((instance) => ({ fleet, instance })))
    for (const { fleet, instance } of old) {
      fleet.start()
      fleet.stop(instance)
    }
    const rotateAgain = (): void => {
      const isOver = old.every(({ fleet, instance }) => !fleet.instances.includes(instance))
      time.schedule(undefined, pace * pauses.minMs, isOver ? rotate : rotateAgain)
    }
    rotateAgain()
  }
  time.schedule(undefined, pace * pauses.maxMs, rotate)
}
