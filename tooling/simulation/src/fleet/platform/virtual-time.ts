import { createEventQueue } from '../../events.ts'

/** A simulated process: a server instance, a client, or a service such as a database. */
export interface Host {
  readonly name: string
  /** The difference between the time of day of this process and the true one, in milliseconds. */
  readonly clockOffsetMs: number
  /** `dead` is final: the events of a dead process never run. */
  state: 'running' | 'frozen' | 'dead'
  /** The events that became due while the process was frozen, in order. */
  readonly deferred: (() => void)[]
  /** The number of times that the process was frozen. */
  frozenCount: number
}

/** A function that will run at a process, unless it is cancelled. */
export interface ScheduledEvent {
  isCancelled: boolean
}

/** The clock of a simulation, and the processes that share it. */
export interface VirtualTime {
  /** Milliseconds since the simulation began. */
  now(): number
  addHost(name: string, clockOffsetMs?: number): Host
  /** The process whose event runs now. Undefined for the simulation itself. */
  readonly currentHost: Host | undefined
  /**
   * Runs a function in a process after a delay. Processes interact only through this function, so all synchronous
   * consequences of an event belong to its process.
   */
  schedule(host: Host | undefined, delayMs: number, run: () => void): ScheduledEvent
  /** Suspends a process. Its events are deferred until it is thawed. */
  freeze(host: Host): void
  thaw(host: Host): void
  /** Runs the next event and its synchronous consequences. Resolves with false if there is no event. */
  step(): Promise<boolean>
}

/**
 * Creates a clock that advances from one event to the next. `nextTurn` must resolve after a real iteration of the event
 * loop, in which all promises settle that do not wait for an event.
 */
export function createVirtualTime(nextTurn: () => Promise<void>): VirtualTime {
  const queue = createEventQueue()
  let now = 0
  let currentHost: Host | undefined

  const schedule: VirtualTime['schedule'] = (host, delayMs, run) => {
    const event = { isCancelled: false }
    const fire = (): void => {
      if (event.isCancelled || host?.state === 'dead') return
      if (host?.state === 'frozen') return void host.deferred.push(fire)
      currentHost = host
      run()
    }
    queue.at(now + Math.max(0, delayMs), fire)
    return event
  }
  return {
    now: () => now,
    addHost: (name, clockOffsetMs = 0) => ({ name, clockOffsetMs, state: 'running', deferred: [], frozenCount: 0 }),
    get currentHost() {
      return currentHost
    },
    schedule,
    freeze(host) {
      host.state = 'frozen'
      host.frozenCount += 1
    },
    thaw(host) {
      if (host.state !== 'frozen') return
      host.state = 'running'
      for (const fire of host.deferred.splice(0)) queue.at(now, fire)
    },
    async step() {
      const nextAt = queue.nextAt
      if (nextAt === undefined) return false
      now = nextAt
      queue.step()
      await nextTurn()
      currentHost = undefined
      return true
    },
  }
}
