import type { InstanceMessage } from '../instance/instance-message.ts'
import { type Completion, timingOf } from './latency.ts'
import { ChunkCounter } from './chunk-counter.ts'
import { OpenCalls } from './open-calls.ts'
import type { CallView, LaneStatus, LaneView, Point, Timing, Totals } from './snapshot.ts'

const minCompletions = 5_000

/** The state of the fleet and its calls, from the messages of instances and the results of clients. */
export class Board {
  readonly #now: () => number
  readonly #started: number
  readonly #lanes: LaneView[]
  readonly #calls: OpenCalls
  readonly #chunkCounter = new ChunkCounter()
  readonly #counts = { completed: 0, lost: 0, wrong: 0, moved: 0 }
  #completions: Completion[] = []
  #movedBefore = 0

  /** `now` returns monotonic time in milliseconds. */
  constructor(size: number, now: () => number = () => performance.now()) {
    this.#now = now
    this.#started = now()
    this.#lanes = Array.from({ length: size }, (_, index) => emptyLane(index + 1))
    this.#calls = new OpenCalls(now)
  }

  setStatus(instance: number, status: LaneStatus, isOverloaded: boolean): void {
    const isDown = status === 'down' || status === 'starting'
    this.#updateLane(instance, { status, isOverloaded, ...(isDown && { pid: 0, eventLoopDelayMs: 0, isReady: false }) })
  }

  /** Applies a message of an instance. */
  receiveMessage(instance: number, message: InstanceMessage): void {
    if (message.kind === 'listening') this.#updateLane(instance, { pid: message.pid, isReady: true })
    else if (message.kind === 'load') {
      this.#updateLane(instance, { eventLoopDelayMs: message.eventLoopDelayMs, isReady: message.isReady })
    } else if ('call' in message) {
      if (message.kind === 'work') this.#chunkCounter.add(message.call, message.from)
      this.#calls.receiveMessage(instance, message)
    }
  }

  /** Records that a client sends a call for the first time. */
  recordSent(call: string, size: CallView['size']): void {
    this.#calls.add(call, size)
  }

  /** Records that an instance handed a call off, so that its client sends it to another instance. */
  recordMoved(call: string): void {
    this.#counts.moved++
    const from = this.#lanes[this.#calls.recordMove(call) - 1]
    if (from !== undefined) this.#updateLane(from.instance, { moved: from.moved + 1 })
  }

  /** Records that an attempt of a client ended without a result. */
  recordLost(call: string): void {
    this.#counts.lost++
    this.#calls.recordLoss(call)
  }

  /** Records that a client received a result. */
  recordCompleted(call: string, isExpectedResult: boolean): void {
    this.#counts[isExpectedResult ? 'completed' : 'wrong']++
    this.#completions.push({ at: this.#now(), latencyMs: this.#calls.complete(call) })
    if (this.#completions.length > 2 * minCompletions) this.#completions = this.#completions.slice(-minCompletions)
    this.#chunkCounter.remove(call)
  }

  /** Records that a client stopped waiting for a call. */
  recordDropped(call: string): void {
    this.#calls.remove(call)
    this.#chunkCounter.remove(call)
  }

  lanes(): readonly LaneView[] {
    return this.#lanes.slice()
  }

  calls(): readonly CallView[] {
    return this.#calls.views()
  }

  totals(): Totals {
    const { chunks, repeated } = this.#chunkCounter
    return { ...this.#counts, chunks, repeated }
  }

  /** The latencies of the calls that ended within the last `lastMs` milliseconds. */
  timing(lastMs: number): Timing {
    return timingOf(this.#completions, this.#now() - lastMs, this.#now())
  }

  /** The last completed calls, at least 5000 if there are as many. */
  completions(): readonly Completion[] {
    return this.#completions
  }

  /** Returns the statistics of the last second, and starts the next one. Called once a second. */
  takePoint(): Point {
    const at = this.#now()
    const movesPerSecond = this.#counts.moved - this.#movedBefore
    this.#movedBefore = this.#counts.moved
    const delays = this.#lanes.map(({ pid, eventLoopDelayMs }) => (pid === 0 ? null : Math.round(eventLoopDelayMs)))
    const second = { at: Math.round((at - this.#started) / 1000), movesPerSecond, delays }
    return { ...second, ...timingOf(this.#completions, at - 1000, at) }
  }

  #updateLane(instance: number, changes: Partial<LaneView>): void {
    const lane = this.#lanes[instance - 1]
    if (lane !== undefined) this.#lanes[instance - 1] = { ...lane, ...changes }
  }
}

function emptyLane(instance: number): LaneView {
  return { instance, status: 'down', pid: 0, isOverloaded: false, eventLoopDelayMs: 0, isReady: false, moved: 0 }
}
