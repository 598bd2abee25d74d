import type { EventQueue } from './events.ts'
import type { SimulationOptions } from './options.ts'
import { decideHandOff, LoadMonitor, sheddingRulesOf, sheddingSettings } from './policy.ts'
import type { SimulatedCall, Workload } from './workload.ts'

/** Events of an instance for the simulation. */
export interface InstanceEvents {
  onDone(call: SimulatedCall, instance: Instance, time: number): void
  /** Called when an instance hands a call off, with its sealed state. */
  onHandOff(call: SimulatedCall, from: Instance, time: number): void
}

/** Dependencies of an instance on the simulation. */
export interface InstanceContext {
  readonly options: SimulationOptions
  readonly queue: EventQueue
  readonly workload: Workload
  readonly random: () => number
  readonly events: InstanceEvents
}

/**
 * The time in milliseconds that the handlers of one server share in an iteration of the event loop, as in the real
 * server.
 */
const sliceMs = 10
/** The costs in milliseconds of sealing a state, of opening it, and of starting a call without a state. */
const costs = { sealMs: 0.6, openMs: 0.6, startMs: 0.3 }
/** The mean time in milliseconds for which a call waits between chunks. */
const waitMs = 60

/**
 * One process with one event loop. In each iteration it runs timers, then starts received calls, and then runs each
 * ready call. It uses the load monitor of the server, with the time of this instance.
 */
export class Instance {
  readonly index: number
  readonly monitor: LoadMonitor
  readonly calls = new Set<SimulatedCall>()
  ready: SimulatedCall[] = []
  connections = 0
  /** The factor by which the instance is slower than normal. */
  slowness = 1
  #context: InstanceContext
  #inbox: SimulatedCall[] = []
  #timers: (() => void)[] = []
  #isBusy = false
  #time = 0

  constructor(index: number, context: InstanceContext) {
    this.index = index
    this.#context = context
    this.monitor = this.#createMonitor()
  }

  get running(): number {
    return this.calls.size
  }

  /** The number of calls received since the last iteration. */
  get receivedCount(): number {
    return this.#inbox.length
  }

  /** Receives a call from the network. */
  receive(call: SimulatedCall, time: number): void {
    this.connections++
    call.at = this
    this.#inbox.push(call)
    this.#wake(time)
  }

  /** Receives a call that the oracle moves without a cost. */
  receiveMoved(call: SimulatedCall, time: number): void {
    this.connections++
    this.#enter(call, time)
    this.#wake(time)
  }

  /** Removes a ready call, which the oracle moves. */
  release(call: SimulatedCall): void {
    this.ready.splice(this.ready.indexOf(call), 1)
    this.#leave(call)
  }

  #createMonitor(): LoadMonitor {
    const { queue, options, random } = this.#context
    const later = (run: () => void, ms: number): void => queue.at(this.#time + ms, (time) => this.#fire(run, time))
    const source = {
      now: () => this.#time,
      wallClock: () => this.#time,
      setTimer: later,
      measureLoad: undefined,
      onFailure: () => {},
      onOverload: () => {},
      randomId: () => random().toString(36).slice(2, 10),
    }
    const rules = sheddingRulesOf(sheddingSettings(options.shedding), undefined)
    return new LoadMonitor({ ...rules, calls: 'all' }, source)
  }

  /** Runs a timer on time if the process is idle, and otherwise in the next iteration. */
  #fire(run: () => void, time: number): void {
    if (this.#isBusy) this.#timers.push(run)
    else {
      this.#time = time
      run()
    }
  }

  #wake(time: number): void {
    if (this.#isBusy) return
    this.#isBusy = true
    this.#planTurn(time)
  }

  #planTurn(time: number): void {
    this.#context.queue.at(time, (at) => this.#turn(at))
  }

  #turn(time: number): void {
    this.#time = time
    for (const run of this.#timers.splice(0)) run()
    for (const call of this.#inbox.splice(0)) {
      this.#compute(call.done > 0 || call.handOff !== undefined ? costs.openMs : costs.startMs)
      this.#enter(call, this.#time)
    }
    const { ready } = this
    this.ready = []
    const slice = sliceMs / Math.max(1, ready.length)
    for (const call of ready) this.#run(call, slice)
    if (this.ready.length > 0 || this.#inbox.length > 0) this.#planTurn(this.#time)
    else this.#isBusy = false
  }

  #enter(call: SimulatedCall, time: number): void {
    this.#time = time
    this.monitor.recordReceivedHandOff(call.handOff, `${call.id}/${call.sheds}`)
    this.monitor.beginWork()
    this.calls.add(call)
    call.at = this
    call.workedFrom = time
    this.ready.push(call)
  }

  #leave(call: SimulatedCall): void {
    this.monitor.endWork()
    this.calls.delete(call)
    this.connections--
    call.at = undefined
  }

  #run(call: SimulatedCall, slice: number): void {
    const { workload, events } = this.#context
    for (const from = this.#time; this.#time - from < slice; ) {
      this.#compute(workload.costOf(call, call.done))
      call.done++
      if (call.done >= call.length) {
        this.#leave(call)
        return events.onDone(call, this, this.#time)
      }
      if (this.#hasReasonToLeave(call)) return this.#handOff(call)
      if (workload.waitsAfter(call, call.done)) return this.#wait(call)
    }
    this.ready.push(call)
  }

  #hasReasonToLeave(call: SimulatedCall): boolean {
    if (this.#context.options.mode !== 'shedding') return false
    const { sheds: shedCount, handOff } = call
    const about = { method: 'tools/call', name: 'work', roundCount: 0 }
    const workedMs = this.#time - call.workedFrom
    const reason = decideHandOff(this.monitor, {
      ...about,
      shedCount,
      stopCount: 0,
      drainCount: 0,
      handOffReport: handOff,
      workedMs,
    })
    return typeof reason === 'string'
  }

  #handOff(call: SimulatedCall): void {
    this.#leave(call)
    call.sheds++
    call.handOff = this.monitor.createHandOffReport()
    this.#compute(costs.sealMs)
    this.#context.events.onHandOff(call, this, this.#time)
  }

  #wait(call: SimulatedCall): void {
    const { queue, random } = this.#context
    queue.at(this.#time - Math.log(1 - random()) * waitMs, (time) => {
      if (call.at !== this || !this.calls.has(call)) return
      this.ready.push(call)
      this.#wake(time)
    })
  }

  #compute(cpuMs: number): void {
    this.#time += cpuMs * this.slowness
  }
}
