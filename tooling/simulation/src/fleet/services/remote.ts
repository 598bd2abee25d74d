import type { Faults, MessageFault } from '../faults/faults.ts'
import type { Host, VirtualTime } from '../platform/virtual-time.ts'

/** A service that instances call over the network, such as a database. */
export interface RemoteService {
  readonly host: Host
  /** An `unavailable` service rejects each call immediately, and a `silent` one never responds. */
  availability: 'available' | 'unavailable' | 'silent'
}

const callFaults: readonly MessageFault[] = ['lost', 'answer_lost', 'silent', 'answer_silent']

/** The dependencies of calls to a service. */
export interface RemoteContext {
  readonly time: VirtualTime
  readonly faults: Faults
}

/** A call of a service. */
interface RemoteCall<T> {
  readonly name: string
  readonly run: () => Promise<T>
  /** True if the caller waits for a response without a time limit. */
  readonly isUnlimited?: boolean
}

/** The time limit of a call in milliseconds, as in the published stores. */
const timeLimitMs = 10_000

/**
 * Calls a function of a service from the current process. The function runs after a delay, and its result arrives after
 * another delay. The caller and the service exchange copies.
 */
export function callRemote<T>(
  { time, faults }: RemoteContext,
  service: RemoteService,
  { name, run, isUnlimited = false }: RemoteCall<T>,
): Promise<T> {
  const caller = time.currentHost
  const fault = faults.pickFault(callFaults)
  if (fault !== 'none') faults.record(caller?.name ?? '-', fault, `${service.host.name} ${name}`)
  return new Promise((resolve, reject) => {
    const unreachable = (): void => reject(new Error(`The ${service.host.name} cannot be reached`))
    const timeout = isUnlimited ? undefined : time.schedule(caller, timeLimitMs, unreachable)
    const answer = (settle: () => void): void =>
      void time.schedule(caller, faults.delayMs(), () => {
        if (timeout !== undefined) timeout.isCancelled = true
        settle()
      })
    if (fault === 'lost' || service.availability === 'unavailable') return answer(unreachable)
    if (fault === 'silent') return
    time.schedule(service.host, faults.delayMs(), () => {
      if (service.availability === 'silent') return
      if (service.availability === 'unavailable') return answer(unreachable)
      run().then(
        (value) => {
          if (fault === 'answer_lost') answer(unreachable)
          else if (fault !== 'answer_silent') answer(() => resolve(structuredClone(value)))
        },
        (error: unknown) => answer(() => reject(error)),
      )
    })
  })
}
