import type { EventQueue } from './events.ts'
import type { SimulationOptions } from './options.ts'
import {
  beginDrain,
  createLoadMonitor,
  beginMonitoredCall,
  decideHandOff,
  recordReceivedHandOff,
  endMonitoredCall,
  type LoadMonitor,
  sheddingRulesOf,
  sheddingSettings,
  readServerLoad,
  type HandOffReason,
  createHandOffReport,
} from './policy.ts'
import type { SimulatedCall, Workload } from './workload.ts'

/** Events of an instance for the simulation. */
export interface InstanceEvents {
  onDone(call: SimulatedCall, instance: Instance, time: number): void
  /** Called when an instance hands a call off, with its sealed state. */
  onHandOff(
    call: SimulatedCall,
    origin: { readonly instance: Instance; readonly reason: HandOffReason },
    time: number,
  ): void
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
/**
 * One process with one event loop. In each iteration it runs timers, then starts received calls, and then runs each
 * ready call. It uses the load monitor of the server, with the time of this instance.
 */
export class Instance {
  readonly index: number
  monitor: LoadMonitor
  readonly calls = new Set<SimulatedCall>()
  ready: SimulatedCall[] = []
  isUp = true
  /** True while the balancer sends calls to this instance. */
  isInRotation = true
  /** True while it responds to new calls with 503, because it is stopping. */
  isRejecting = false
  connections = 0
  /** The factor by which the instance is slower than normal. */
  slowness = 1
  #context: InstanceContext
  #inbox: SimulatedCall[] = []
  #timers: (() => void)[] = []
  #isBusy = false
  #generation = 0
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

  /** Returns the result of a health check. */
  isReady(time: number): boolean {
    if (!this.#isBusy) this.#time = time
    return readServerLoad(this.monitor).ready
  }

  /** Announces a stop. Calls remain here while the balancer may still choose this instance. */
  announceStop(): void {
    beginDrain(this.monitor, { keepCalls: true })
  }

  /** Hands running calls off, and rejects new ones. */
  stop(graceMs: number): void {
    this.isRejecting = true
    beginDrain(this.monitor, { graceMs })
  }

  /** Ends the process, and returns the lost calls. */
  kill(): SimulatedCall[] {
    const lost = [...this.calls, ...this.#inbox]
    this.isUp = false
    this.#generation++
    this.calls.clear()
    this.#inbox = []
    this.ready = []
    this.#timers = []
    this.connections = 0
    this.#isBusy = false
    for (const call of lost) call.at = undefined
    return lost
  }

  /** Starts the process again, with another id and without state. */
  start(): void {
    this.isUp = true
    this.isInRotation = true
    this.isRejecting = false
    this.monitor = this.#createMonitor()
  }

  #createMonitor(): LoadMonitor {
    const { queue, options, random } = this.#context
    const generation = this.#generation
    const later = (run: () => void, ms: number): void =>
      queue.at(this.#time + ms, (time) => {
        if (generation === this.#generation) this.#fire(run, time)
      })
    const source = {
      now: () => this.#time,
      wallClock: () => this.#time,
      setTimer: later,
      measureLoad: undefined,
      onFailure: () => {},
      randomId: () => random().toString(36).slice(2, 10),
    }
    const rules = sheddingRulesOf(sheddingSettings(options.shedding), undefined)
    return createLoadMonitor({ ...rules, calls: 'all' }, source)
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
    if (this.#isBusy || !this.isUp) return
    this.#isBusy = true
    this.#planTurn(time)
  }

  #planTurn(time: number): void {
    const generation = this.#generation
    this.#context.queue.at(time, (at) => {
      if (generation === this.#generation) this.#turn(at)
    })
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
    recordReceivedHandOff(this.monitor, { callId: String(call.id), shedCount: call.sheds, handOffReport: call.handOff })
    beginMonitoredCall(this.monitor)
    this.calls.add(call)
    call.at = this
    call.drains = this.monitor.drainCount
    call.workedFrom = time
    this.ready.push(call)
  }

  #leave(call: SimulatedCall): void {
    endMonitoredCall(this.monitor)
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
      const reason = this.#reasonToLeave(call)
      if (reason !== undefined) return this.#handOff(call, reason)
      if (workload.waitsAfter(call, call.done)) return this.#wait(call)
    }
    this.ready.push(call)
  }

  #reasonToLeave(call: SimulatedCall): HandOffReason | undefined {
    const { mode } = this.#context.options
    if (mode === 'none' || (mode === 'oracle' && this.monitor.activeDrains.size === 0)) return undefined
    const { sheds: shedCount, stops: stopCount, drains, handOff } = call
    const about = { method: 'tools/call', name: 'work', roundCount: 0 }
    const workedMs = this.#time - call.workedFrom
    const reason = decideHandOff(this.monitor, {
      ...about,
      shedCount,
      stopCount,
      drainCount: drains,
      handOffReport: handOff,
      workedMs,
    })
    return typeof reason === 'string' ? reason : undefined
  }

  #handOff(call: SimulatedCall, reason: HandOffReason): void {
    this.#leave(call)
    if (reason === 'stopping') {
      call.stops++
      call.handOff = undefined
    } else {
      call.sheds++
      call.handOff = createHandOffReport(this.monitor)
    }
    this.#compute(costs.sealMs)
    this.#context.events.onHandOff(call, { instance: this, reason }, this.#time)
  }

  #wait(call: SimulatedCall): void {
    const { queue, random, options } = this.#context
    queue.at(this.#time - Math.log(1 - random()) * options.waitMs, (time) => {
      if (call.at !== this || !this.calls.has(call)) return
      this.ready.push(call)
      this.#wake(time)
    })
  }

  #compute(cpuMs: number): void {
    this.#time += (cpuMs * this.slowness) / this.#context.options.speed
  }
}
