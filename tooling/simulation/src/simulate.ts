import { type Choose, createBalancer, leastLoaded, waitAt } from './balancer.ts'
import { randomFrom } from '@tooling/vitest/random'
import { createEventQueue, type EventQueue } from './events.ts'
import { Instance } from './instance.ts'
import { createMeasures, type Measures, resultOf, sample, type SimulationResult } from './measures.ts'
import type { FleetEvent, GivenCall, SimulationOptions } from './options.ts'
import { handOffPause, type HandOffReason } from './policy.ts'
import { createWorkload, type SimulatedCall, type Workload } from './workload.ts'

/** One way through the network, and how long a client waits when there is no instance or its call is lost. */
const netMs = 2
const againMs = 250
/** Number of results that are not final that a client takes. */
const maxRounds = 10
/** Between two looks at whether a stopping instance still has calls. */
const idleCheckMs = 50

/** A fleet and its clients. */
interface Fleet {
  readonly options: SimulationOptions
  readonly queue: EventQueue
  readonly workload: Workload
  readonly chance: () => number
  readonly measures: Measures
  readonly instances: Instance[]
  choose: Choose
  open: number
}

/** Runs a fleet on a virtual clock. The same options give the same result. */
export function simulate(options: SimulationOptions): SimulationResult {
  const fleet = openFleet(options)
  const end = options.warmMs + options.loadMs
  if (options.calls === undefined) bear(fleet, 0)
  else for (const call of options.calls) bringCall(fleet, call)
  takeSamples(fleet, options.warmMs)
  if (options.mode === 'oracle') rebalance(fleet, 0)
  if (options.healthChecks) checkHealth(fleet, 1000)
  for (const event of options.events) fleet.queue.at(event.at + options.warmMs, (time) => happen(fleet, event, time))
  for (let now = 0; fleet.queue.size > 0 && now <= end + options.tailMs && (now <= end || fleet.open > 0); ) {
    now = fleet.queue.step()
  }
  return resultOf(fleet.measures, fleet.open)
}

function openFleet(options: SimulationOptions): Fleet {
  const chance = randomFrom(options.seed * 104_729 + 3)
  const fleet: Fleet = {
    options,
    queue: createEventQueue(),
    workload: createWorkload(options),
    chance,
    measures: createMeasures(options.instances),
    instances: [],
    choose: () => undefined,
    open: 0,
  }
  const events = {
    onDone: (call: SimulatedCall, _: Instance, time: number) => finish(fleet, call, time),
    onHandOff: (call: SimulatedCall, leaving: Leaving, time: number) => sendAgain(fleet, { call, ...leaving }, time),
  }
  const { queue, workload } = fleet
  for (let index = 0; index < options.instances; index++) {
    fleet.instances.push(new Instance(index, { options, queue, workload, chance, events }))
  }
  const balanced = createBalancer(options, fleet.instances, chance)
  fleet.choose = options.mode === 'oracle' ? () => leastLoaded(fleet.instances) : balanced
  return fleet
}

interface Leaving {
  readonly instance: Instance
  readonly reason: HandOffReason
}

function bear(fleet: Fleet, time: number): void {
  const { options, workload, queue } = fleet
  fleet.open++
  send(fleet, { call: workload.create(time) }, time)
  const next = time + workload.gap(options.rate(time - options.warmMs))
  if (next < options.warmMs + options.loadMs) queue.at(next, (at) => bear(fleet, at))
}

/** Lets a given call come at its time; until then it counts as open. */
function bringCall(fleet: Fleet, { at, chunks }: GivenCall): void {
  fleet.open++
  fleet.queue.at(at + fleet.options.warmMs, (time) => send(fleet, { call: fleet.workload.create(time, chunks) }, time))
}

/** A request, and the hand-off that it follows. */
interface Sent {
  readonly call: SimulatedCall
  readonly from?: Leaving | undefined
}

/**
 * Brings a request to an instance; one that comes back from another is compared with it, for the share of useless
 * moves.
 */
function send(fleet: Fleet, { call, from }: Sent, time: number): void {
  const instance = fleet.choose(call)
  if (instance === undefined || !instance.isUp || instance.isRefusing) {
    fleet.queue.at(time + againMs, (at) => send(fleet, { call, from }, at))
    return
  }
  if (from !== undefined) compare(fleet, from, instance)
  instance.arrive(call, time)
}

function compare({ measures }: Fleet, { instance: from, reason }: Leaving, to: Instance): void {
  if (from === to) measures.returned++
  if (reason === 'load' && from.isUp && waitAt(to, 1) >= waitAt(from, 1) * 0.9) measures.useless++
}

function finish(fleet: Fleet, call: SimulatedCall, time: number): void {
  const { options, measures } = fleet
  fleet.open--
  measures.completed++
  if (call.born < options.warmMs || call.born >= options.warmMs + options.loadMs) return
  measures.took.push(time + netMs - call.born)
  measures.idleMs += call.idleMs
}

/** The client of a call that was handed off sends it again, after the real client's pause. */
function sendAgain(fleet: Fleet, { call, instance, reason }: Leaving & { call: SimulatedCall }, time: number): void {
  const { measures, chance, queue, options } = fleet
  options.onHandOff({ call: call.id, from: instance.index, time: time - options.warmMs })
  if (reason === 'stopping') measures.stopMoves++
  else {
    measures.moves++
    measures.movesBy[instance.index] = (measures.movesBy[instance.index] ?? 0) + 1
  }
  if (call.rounds + 1 >= maxRounds) {
    measures.givenUp++
    return beginAgain(fleet, call, time)
  }
  const pause = handOffPause({ previousHandOffCount: call.rounds, meta: undefined }, chance)
  call.rounds++
  measures.mostHandOffs = Math.max(measures.mostHandOffs, call.rounds)
  call.idleMs += pause + 2 * netMs
  queue.at(time + pause + 2 * netMs, (at) => send(fleet, { call, from: { instance, reason } }, at))
}

/** The client has nothing of what was done. */
function beginAgain(fleet: Fleet, call: SimulatedCall, time: number): void {
  for (let chunk = 0; chunk < call.done; chunk++) fleet.measures.redoneMs += fleet.workload.costOf(call, chunk)
  Object.assign(call, { done: 0, rounds: 0, sheds: 0, stops: 0, handOff: undefined })
  fleet.queue.at(time + againMs, (at) => send(fleet, { call }, at))
}

function happen(fleet: Fleet, event: FleetEvent, time: number): void {
  const instance = fleet.instances[event.instance]
  if (instance === undefined) return
  if (event.kind === 'slow') instance.slowness = event.by
  if (event.kind === 'heavy') land(fleet, { instance, calls: event.calls, chunks: event.chunks }, time)
  if (event.kind === 'kill')
    end(fleet, { instance, downMs: event.downMs, noticedMs: fleet.options.stops.noticedMs }, time)
  if (event.kind === 'drain') replace(fleet, { instance }, time)
  if (event.kind === 'deploy') deployNext(fleet, { index: 0, left: event.times * fleet.instances.length }, time)
}

function land(
  fleet: Fleet,
  { instance, calls, chunks }: { instance: Instance; calls: number; chunks: number },
  time: number,
): void {
  for (let count = 0; count < calls; count++) {
    fleet.open++
    instance.arrive(fleet.workload.create(time, chunks), time)
  }
}

function end(fleet: Fleet, { instance, downMs, noticedMs, onStarted }: Ended, time: number): void {
  const lost = instance.kill()
  fleet.measures.lost += lost.length
  for (const call of lost) beginAgain(fleet, call, time)
  fleet.queue.at(time + noticedMs, () => {
    if (!instance.isUp) instance.isOffered = false
  })
  fleet.queue.at(time + downMs, (at) => {
    instance.start()
    onStarted?.(at)
  })
}

interface Ended {
  readonly instance: Instance
  readonly downMs: number
  readonly noticedMs: number
  readonly onStarted?: ((time: number) => void) | undefined
}

/** Replaces one instance after the other, so many times in all. */
function deployNext(fleet: Fleet, { index, left }: { index: number; left: number }, time: number): void {
  const instance = fleet.instances[index]
  if (instance === undefined || left === 0) return
  const next = { index: (index + 1) % fleet.instances.length, left: left - 1 }
  replace(fleet, { instance, onStarted: (at) => deployNext(fleet, next, at) }, time)
}

/** Stops an instance as a server does: it announces the stop, then hands calls off and refuses, then ends. */
function replace(fleet: Fleet, { instance, onStarted }: Pick<Ended, 'instance' | 'onStarted'>, time: number): void {
  const { noticedMs, graceMs, downMs, endsWhenIdle } = fleet.options.stops
  instance.announceStop()
  fleet.queue.at(time + noticedMs, (noticedAt) => {
    instance.isOffered = false
    instance.stop(graceMs)
    const endsAt = noticedAt + graceMs
    const look = (at: number): void => {
      const isOver = at >= endsAt || (endsWhenIdle && instance.connections === 0)
      if (isOver) end(fleet, { instance, downMs, noticedMs: 0, onStarted }, at)
      else fleet.queue.at(endsWhenIdle ? Math.min(endsAt, at + idleCheckMs) : endsAt, look)
    }
    look(noticedAt)
  })
}

function takeSamples(fleet: Fleet, time: number): void {
  fleet.queue.at(time, (at) => {
    sample(fleet.measures, fleet.instances)
    if (at < fleet.options.warmMs + fleet.options.loadMs) takeSamples(fleet, at + 200)
  })
}

function checkHealth(fleet: Fleet, time: number): void {
  fleet.queue.at(time, (at) => {
    for (const instance of fleet.instances) if (instance.isUp) instance.isOffered = instance.isReady(at)
    checkHealth(fleet, at + 1000)
  })
}

/** The oracle moves calls from the busiest to the idlest, at no cost, for as long as that helps. */
function rebalance(fleet: Fleet, time: number): void {
  fleet.queue.at(time, (at) => {
    const up = fleet.instances.filter(
      ({ isUp, isOffered, monitor }) => isUp && isOffered && monitor.activeDrains.size === 0,
    )
    const stuck = new Set<Instance>()
    for (let count = 0; up.length > 1 && count < 2 * up.length; count++) if (!moveOne(up, stuck, at)) break
    rebalance(fleet, at + 20)
  })
}

/** Moves one call; false when no move helps. An instance all of whose calls wait has none to give. */
function moveOne(up: readonly Instance[], stuck: Set<Instance>, time: number): boolean {
  let from: Instance | undefined
  for (const one of up) if (!stuck.has(one) && (from === undefined || loadOf(one) > loadOf(from))) from = one
  const to = up.reduce((best, one) => (waitAt(one, 1) < waitAt(best, 1) ? one : best))
  if (from === undefined || (to.running + 1) * to.slowness >= loadOf(from)) return false
  const [call] = from.ready
  if (call === undefined) stuck.add(from)
  else {
    from.release(call)
    to.adopt(call, time)
  }
  return true
}

function loadOf({ running, slowness }: Instance): number {
  return running * slowness
}
