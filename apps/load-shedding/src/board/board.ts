import type { InstanceMessage } from '../instance/instance-message.ts'
import { type Completion, timingOf } from './latency.ts'
import { createLedger } from './ledger.ts'
import { createOpenCalls } from './open-calls.ts'
import type { CallView, LaneStatus, LaneView, Point, Timing, Totals } from './snapshot.ts'

/** What is known of the fleet and its calls, from both ends: what instances tell, and what clients see. */
export interface Board {
  /** An instance has another status. */
  status(instance: number, status: LaneStatus, isOverloaded: boolean): void
  /** An instance told something. */
  hear(instance: number, message: InstanceMessage): void
  /** A client sends a call for the first time. */
  sent(call: string, size: CallView['size']): void
  /** A client was told to take its call elsewhere. */
  moved(call: string): void
  /** A client's attempt ended without a result. */
  lost(call: string): void
  /** A client has its result. */
  completed(call: string, isRight: boolean): void
  /** Nobody waits for the call any more. */
  dropped(call: string): void
  lanes(): readonly LaneView[]
  calls(): readonly CallView[]
  totals(): Totals
  /** The calls that ended within the last so many milliseconds. */
  timing(lastMs: number): Timing
  /** The calls that have ended lately, at least those of a few minutes. */
  completions(): readonly Completion[]
  /** What the last second was like; asked for once a second. */
  point(): Point
}

const keptCompletions = 5_000

/** A board for so many instances; `now` gives milliseconds from any beginning. */
export function createBoard(size: number, now: () => number = () => performance.now()): Board {
  const started = now()
  const lanes = Array.from({ length: size }, (_, place) => emptyLane(place + 1))
  const calls = createOpenCalls(now)
  const limits = new Map<string, number>()
  const ledger = createLedger()
  const counts = { completed: 0, lost: 0, wrong: 0, moved: 0 }
  let completions: Completion[] = []
  let movedBefore = 0

  const change = (instance: number, changes: Partial<LaneView>): void => {
    const lane = lanes[instance - 1]
    if (lane !== undefined) lanes[instance - 1] = { ...lane, ...changes }
  }
  const forget = (call: string): void => {
    limits.delete(call)
    ledger.forget(call)
  }
  return {
    status(instance, status, isOverloaded) {
      const isGone = status === 'down' || status === 'starting'
      change(instance, { status, isOverloaded, ...(isGone && { pid: 0, eventLoopDelayMs: 0, isReady: false }) })
    },
    hear(instance, message) {
      switch (message.kind) {
        case 'listening':
          return change(instance, { pid: message.pid, isReady: true })
        case 'load':
          return change(instance, { eventLoopDelayMs: message.eventLoopDelayMs, isReady: message.isReady })
        case 'begin':
          limits.set(message.call, message.limit)
          return calls.begin(message.call, instance, message.next / message.limit)
        case 'work':
          ledger.note(message.call, message.from)
          return calls.work(message.call, instance, message.next / (limits.get(message.call) ?? message.next))
        case 'end':
          return calls.leave(message.call, instance)
      }
    },
    sent: (call, of) => calls.send(call, of),
    moved(call) {
      counts.moved++
      const from = lanes[calls.move(call) - 1]
      if (from !== undefined) change(from.instance, { moved: from.moved + 1 })
    },
    lost(call) {
      counts.lost++
      calls.lose(call)
    },
    completed(call, isRight) {
      counts.completed++
      if (!isRight) counts.wrong++
      completions.push({ at: now(), tookMs: calls.complete(call) })
      if (completions.length > 2 * keptCompletions) completions = completions.slice(-keptCompletions)
      forget(call)
    },
    dropped(call) {
      calls.drop(call)
      forget(call)
    },
    lanes: () => lanes.slice(),
    calls: () => calls.views(),
    totals: () => ({ ...counts, chunks: ledger.chunks, repeated: ledger.repeated }),
    completions: () => completions,
    timing: (lastMs) => timingOf(completions, now() - lastMs, now()),
    point() {
      const at = now()
      const movesPerSecond = counts.moved - movedBefore
      movedBefore = counts.moved
      const delays = lanes.map(({ pid, eventLoopDelayMs }) => (pid === 0 ? null : Math.round(eventLoopDelayMs)))
      return { at: Math.round((at - started) / 1000), movesPerSecond, delays, ...timingOf(completions, at - 1000, at) }
    },
  }
}

function emptyLane(instance: number): LaneView {
  return { instance, status: 'down', pid: 0, isOverloaded: false, eventLoopDelayMs: 0, isReady: false, moved: 0 }
}
