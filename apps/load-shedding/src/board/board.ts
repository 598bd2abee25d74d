import type { InstanceMessage } from '../instance/instance-message.ts'
import { type Completion, timingOf } from './latency.ts'
import { createChunkCounter } from './chunk-counter.ts'
import { createOpenCalls } from './open-calls.ts'
import type { CallView, LaneStatus, LaneView, Point, Timing, Totals } from './snapshot.ts'

/** The state of the fleet and its calls, from the messages of instances and the results of clients. */
export interface Board {
  /** Records a new status of an instance. */
  setStatus(instance: number, status: LaneStatus, isOverloaded: boolean): void
  /** Applies a message of an instance. */
  receiveMessage(instance: number, message: InstanceMessage): void
  /** Records that a client sends a call for the first time. */
  recordSent(call: string, size: CallView['size']): void
  /** Records that an instance handed a call off, so that its client sends it to another instance. */
  recordMoved(call: string): void
  /** Records that an attempt of a client ended without a result. */
  recordLost(call: string): void
  /** Records that a client received a result. */
  recordCompleted(call: string, isExpectedResult: boolean): void
  /** Records that a client stopped waiting for a call. */
  recordDropped(call: string): void
  lanes(): readonly LaneView[]
  calls(): readonly CallView[]
  totals(): Totals
  /** Returns the latencies of the calls that ended within the last `lastMs` milliseconds. */
  timing(lastMs: number): Timing
  /** Returns the last completed calls, at least 5000 if there are as many. */
  completions(): readonly Completion[]
  /** Returns the statistics of the last second, and starts the next one. Called once a second. */
  takePoint(): Point
}

const minCompletions = 5_000

/** Creates a board for a number of instances. `now` returns monotonic time in milliseconds. */
export function createBoard(size: number, now: () => number = () => performance.now()): Board {
  const started = now()
  const lanes = Array.from({ length: size }, (_, index) => emptyLane(index + 1))
  const calls = createOpenCalls(now)
  const chunkCounter = createChunkCounter()
  const counts = { completed: 0, lost: 0, wrong: 0, moved: 0 }
  let completions: Completion[] = []
  let movedBefore = 0

  const updateLane = (instance: number, changes: Partial<LaneView>): void => {
    const lane = lanes[instance - 1]
    if (lane !== undefined) lanes[instance - 1] = { ...lane, ...changes }
  }
  return {
    setStatus(instance, status, isOverloaded) {
      const isDown = status === 'down' || status === 'starting'
      updateLane(instance, { status, isOverloaded, ...(isDown && { pid: 0, eventLoopDelayMs: 0, isReady: false }) })
    },
    receiveMessage(instance, message) {
      if (message.kind === 'listening') updateLane(instance, { pid: message.pid, isReady: true })
      else if (message.kind === 'load') {
        updateLane(instance, { eventLoopDelayMs: message.eventLoopDelayMs, isReady: message.isReady })
      } else if ('call' in message) {
        if (message.kind === 'work') chunkCounter.add(message.call, message.from)
        calls.receiveMessage(instance, message)
      }
    },
    recordSent: calls.add,
    recordMoved(call) {
      counts.moved++
      const from = lanes[calls.recordMove(call) - 1]
      if (from !== undefined) updateLane(from.instance, { moved: from.moved + 1 })
    },
    recordLost(call) {
      counts.lost++
      calls.recordLoss(call)
    },
    recordCompleted(call, isExpectedResult) {
      counts[isExpectedResult ? 'completed' : 'wrong']++
      completions.push({ at: now(), latencyMs: calls.complete(call) })
      if (completions.length > 2 * minCompletions) completions = completions.slice(-minCompletions)
      chunkCounter.remove(call)
    },
    recordDropped(call) {
      calls.remove(call)
      chunkCounter.remove(call)
    },
    lanes: () => lanes.slice(),
    calls: calls.views,
    totals: () => ({ ...counts, chunks: chunkCounter.chunks, repeated: chunkCounter.repeated }),
    completions: () => completions,
    timing: (lastMs) => timingOf(completions, now() - lastMs, now()),
    takePoint() {
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
