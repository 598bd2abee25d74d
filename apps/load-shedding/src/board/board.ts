import type { InstanceMessage } from '../instance/instance-message.ts'
import { type Completion, timingOf } from './latency.ts'
import { createLedger } from './ledger.ts'
import { createOpenCalls } from './open-calls.ts'
import type { CallView, LaneStatus, LaneView, Point, Timing, Totals } from './snapshot.ts'

/** The state of the fleet and its calls, from the messages of instances and the results of clients. */
export interface Board {
  /** An instance has another status. */
  status(instance: number, status: LaneStatus, isOverloaded: boolean): void
  /** Records a report of an instance. */
  hear(instance: number, message: InstanceMessage): void
  /** A client sends a call for the first time. */
  sent(call: string, size: CallView['size']): void
  /** Records that a client has to send its call to another instance. */
  moved(call: string): void
  /** A client's attempt ended without a result. */
  lost(call: string): void
  /** A client has its result. */
  completed(call: string, isRight: boolean): void
  /** The client no longer waits for the call. */
  dropped(call: string): void
  lanes(): readonly LaneView[]
  calls(): readonly CallView[]
  totals(): Totals
  /** The calls that ended within the last so many milliseconds. */
  timing(lastMs: number): Timing
  /** The calls that have ended lately, at least those of a few minutes. */
  completions(): readonly Completion[]
  /** Returns the statistics of the last second; called once a second. */
  point(): Point
}

const keptCompletions = 5_000

/** A board for so many instances; `now` gives milliseconds from any beginning. */
export function createBoard(size: number, now: () => number = () => performance.now()): Board {
  const started = now()
  const lanes = Array.from({ length: size }, (_, place) => emptyLane(place + 1))
  const calls = createOpenCalls(now)
  const ledger = createLedger()
  const counts = { completed: 0, lost: 0, wrong: 0, moved: 0 }
  let completions: Completion[] = []
  let movedBefore = 0

  const change = (instance: number, changes: Partial<LaneView>): void => {
    const lane = lanes[instance - 1]
    if (lane !== undefined) lanes[instance - 1] = { ...lane, ...changes }
  }
  return {
    status(instance, status, isOverloaded) {
      const isGone = status === 'down' || status === 'starting'
      change(instance, { status, isOverloaded, ...(isGone && { pid: 0, eventLoopDelayMs: 0, isReady: false }) })
    },
    hear(instance, message) {
      if (message.kind === 'listening') change(instance, { pid: message.pid, isReady: true })
      else if (message.kind === 'load') {
        change(instance, { eventLoopDelayMs: message.eventLoopDelayMs, isReady: message.isReady })
      } else if ('call' in message) {
        if (message.kind === 'work') ledger.note(message.call, message.from)
        calls.hear(instance, message)
      }
    },
    sent: calls.send,
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
      counts[isRight ? 'completed' : 'wrong']++
      completions.push({ at: now(), tookMs: calls.complete(call) })
      if (completions.length > 2 * keptCompletions) completions = completions.slice(-keptCompletions)
      ledger.forget(call)
    },
    dropped(call) {
      calls.drop(call)
      ledger.forget(call)
    },
    lanes: () => lanes.slice(),
    calls: calls.views,
    totals: () => ({ ...counts, chunks: ledger.chunks, repeated: ledger.repeated }),
    completions: () => completions,
    timing: (lastMs) => timingOf(completions, now() - lastMs, now()),
    point() {
      const at = now()
      const movesPerSecond = counts.moved - movedBefore
      movedBefore = counts.moved
      const second = { at: Math.round((at - started) / 1000), movesPerSecond, delays: lanes.map(delayOf) }
      return { ...second, ...timingOf(completions, at - 1000, at) }
    },
  }
}

function delayOf({ pid, eventLoopDelayMs }: LaneView): number | null {
  return pid === 0 ? null : Math.round(eventLoopDelayMs)
}

function emptyLane(instance: number): LaneView {
  return { instance, status: 'down', pid: 0, isOverloaded: false, eventLoopDelayMs: 0, isReady: false, moved: 0 }
}
