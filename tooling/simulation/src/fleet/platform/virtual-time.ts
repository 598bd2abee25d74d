import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
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
  /** Accepts a connection. Undefined while the process does not listen. */
  accept: ((socket: Duplex) => void) | undefined
  /** Starts a child process. */
  spawn?: () => ChildProcess
  /** Called when the process is removed, to release what it has of the real process. */
  readonly onRemoved: (() => void)[]
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
  /** Ends a process. Its events never run. */
  remove(host: Host): void
  /** Runs the next event and its consequences. Resolves with false if there is no event. */
  step(): Promise<boolean>
  /** Lets everything settle that waits for no event, such as what closed connections end. */
  settle(): Promise<void>
}

/**
 * Creates a clock that advances from one event to the next. `nextTurn` must resolve after a real iteration of the event
 * loop, in which all promises settle that do not wait for an event.
 */
export function createVirtualTime(nextTurn: () => Promise<void>): VirtualTime {
  const queue = createEventQueue()
  let now = 0
  /** True if the current step has run something, and not only a cancelled event. */
  let hasRun = false
  let currentHost: Host | undefined

  const schedule: VirtualTime['schedule'] = (host, delayMs, run) => {
    const event = { isCancelled: false }
    const fire = (): void => {
      if (event.isCancelled || host?.state === 'dead') return
      if (host?.state === 'frozen') return void host.deferred.push(fire)
      currentHost = host
      hasRun = true
      run()
    }
    queue.at(now + Math.max(0, delayMs), fire)
    return event
  }
  return {
    now: () => now,
    addHost(name, clockOffsetMs = 0) {
      const lists = { deferred: [], onRemoved: [] }
      return { name, clockOffsetMs, state: 'running', frozenCount: 0, accept: undefined, ...lists }
    },
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
    remove(host) {
      if (host.state === 'dead') return
      host.state = 'dead'
      host.accept = undefined
      for (const run of host.onRemoved.splice(0)) run()
    },
    async step() {
      for (hasRun = false; !hasRun; queue.step()) {
        const { nextAt } = queue
        if (nextAt === undefined) return false
        now = nextAt
      }
      await nextTurn()
      currentHost = undefined
      return true
    },
    async settle() {
      for (let turn = 0; turn < 3; turn += 1) await nextTurn()
    },
  }
}
