import { balancers, type Choose, leastLoaded, loadWith } from './balancer.ts'
import { randomFrom } from '@tooling/vitest/random'
import { createEventQueue, type EventQueue } from './events.ts'
import { Instance } from './instance.ts'
import { createMeasures, type Measures, resultOf, sample, type SimulationResult } from './measures.ts'
import type { FleetEvent, PlannedCall, SimulationOptions } from './options.ts'
import { computeHandOffDelayMs, maxHandOffs } from './policy.ts'
import { createWorkload, type SimulatedCall, type Workload } from './workload.ts'

/** The latency of the network in one direction, in milliseconds. */
const netMs = 2

/** A fleet and its clients. */
interface Fleet {
  readonly options: SimulationOptions
  readonly queue: EventQueue
  readonly workload: Workload
  readonly random: () => number
  readonly measures: Measures
  readonly instances: Instance[]
  choose: Choose
  open: number
}

/** The time in milliseconds after the load for calls that are still open. */
const tailMs = 120_000

/** Runs a fleet on a virtual clock. The same options give the same result. */
export function simulate(options: SimulationOptions): SimulationResult {
  const fleet = openFleet(options)
  const end = options.warmMs + options.loadMs
  if (options.calls === undefined) startCalls(fleet, 0)
  else for (const call of options.calls) scheduleCall(fleet, call)
  takeSamples(fleet, options.warmMs)
  if (options.mode === 'oracle') rebalance(fleet, 0)
  for (const event of options.events)
    fleet.queue.at(event.at + options.warmMs, (time) => applyEvent(fleet, event, time))
  for (let now = 0; fleet.queue.size > 0 && now <= end + tailMs && (now <= end || fleet.open > 0); ) {
    now = fleet.queue.step()
  }
  return resultOf(fleet.measures, fleet.open)
}

function openFleet(options: SimulationOptions): Fleet {
  const random = randomFrom(options.seed * 104_729 + 3)
  const fleet: Fleet = {
    options,
    queue: createEventQueue(),
    workload: createWorkload(options),
    random,
    measures: createMeasures(),
    instances: [],
    choose: () => undefined,
    open: 0,
  }
  const events = {
    onDone: (call: SimulatedCall, _: Instance, time: number) => finish(fleet, call, time),
    onHandOff: (call: SimulatedCall, from: Instance, time: number) => resend(fleet, { call, from }, time),
  }
  const { queue, workload } = fleet
  for (let index = 0; index < options.instances; index++) {
    fleet.instances.push(new Instance(index, { options, queue, workload, random, events }))
  }
  const balanced = balancers[options.balancer](fleet.instances)
  fleet.choose = options.mode === 'oracle' ? () => leastLoaded(fleet.instances) : balanced
  return fleet
}

function startCalls(fleet: Fleet, time: number): void {
  const { options, workload, queue } = fleet
  fleet.open++
  send(fleet, { call: workload.create(time) }, time)
  const next = time + workload.gap(options.rate(time - options.warmMs))
  if (next < options.warmMs + options.loadMs) queue.at(next, (at) => startCalls(fleet, at))
}

/** Schedules a planned call. It counts as open until its end. */
function scheduleCall(fleet: Fleet, { at, chunks }: PlannedCall): void {
  fleet.open++
  fleet.queue.at(at + fleet.options.warmMs, (time) => send(fleet, { call: fleet.workload.create(time, chunks) }, time))
}

/** A call, and the instance that has handed it off. */
interface Sent {
  readonly call: SimulatedCall
  readonly from?: Instance
}

/** Sends a request to an instance. After a hand-off, compares the two instances for the share of useless hand-offs. */
function send(fleet: Fleet, { call, from }: Sent, time: number): void {
  const instance = fleet.choose(call)
  if (from !== undefined && instance !== undefined && loadWith(instance, 1) >= loadWith(from, 1) * 0.9)
    fleet.measures.useless++
  instance?.receive(call, time)
}

function finish(fleet: Fleet, call: SimulatedCall, time: number): void {
  const { options, measures } = fleet
  fleet.open--
  measures.completed++
  if (call.startedAt < options.warmMs || call.startedAt >= options.warmMs + options.loadMs) return
  measures.durations.push(time + netMs - call.startedAt)
  measures.idleMs += call.idleMs
}

/** Sends a call again after a hand-off, with the delay and the limit of the real client. */
function resend(fleet: Fleet, { call, from }: Required<Sent>, time: number): void {
  const { measures, random, queue, options } = fleet
  options.onHandOff({ call: call.id, from: from.index, time: time - options.warmMs })
  measures.moves++
  if (call.rounds >= maxHandOffs) {
    measures.givenUp++
    fleet.open--
    return
  }
  const pause = computeHandOffDelayMs({ previousHandOffCount: call.rounds, meta: undefined }, random)
  call.rounds++
  call.idleMs += pause + 2 * netMs
  queue.at(time + pause + 2 * netMs, (at) => send(fleet, { call, from }, at))
}

function applyEvent(fleet: Fleet, event: FleetEvent, time: number): void {
  const instance = fleet.instances[event.instance]
  if (instance === undefined) return
  if (event.kind === 'slow') instance.slowness = event.by
  if (event.kind === 'heavy') addHeavyCalls(fleet, { instance, calls: event.calls, chunks: event.chunks }, time)
}

function addHeavyCalls(
  fleet: Fleet,
  { instance, calls, chunks }: { instance: Instance; calls: number; chunks: number },
  time: number,
): void {
  for (let count = 0; count < calls; count++) {
    fleet.open++
    instance.receive(fleet.workload.create(time, chunks), time)
  }
}

function takeSamples(fleet: Fleet, time: number): void {
  fleet.queue.at(time, (at) => {
    sample(fleet.measures, fleet.instances)
    if (at < fleet.options.warmMs + fleet.options.loadMs) takeSamples(fleet, at + 200)
  })
}

/** Moves calls from the busiest to the least busy instance without a cost, while that reduces the load. */
function rebalance(fleet: Fleet, time: number): void {
  fleet.queue.at(time, (at) => {
    const up = fleet.instances
    const stuck = new Set<Instance>()
    for (let count = 0; up.length > 1 && count < 2 * up.length; count++) if (!moveOne(up, stuck, at)) break
    rebalance(fleet, at + 20)
  })
}

/** Moves one call. Returns false if no move reduces the load. An instance without a ready call is added to `stuck`. */
function moveOne(up: readonly Instance[], stuck: Set<Instance>, time: number): boolean {
  let from: Instance | undefined
  for (const one of up) if (!stuck.has(one) && (from === undefined || loadOf(one) > loadOf(from))) from = one
  const to = up.reduce((best, one) => (loadWith(one, 1) < loadWith(best, 1) ? one : best))
  if (from === undefined || (to.running + 1) * to.slowness >= loadOf(from)) return false
  const [call] = from.ready
  if (call === undefined) stuck.add(from)
  else {
    from.release(call)
    to.receiveMoved(call, time)
  }
  return true
}

function loadOf({ running, slowness }: Instance): number {
  return running * slowness
}
