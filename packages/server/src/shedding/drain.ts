import { checkedNumber, formatCount, type Log } from '@x/core'
import type { DrainOptions, Undrain } from '@x/exchange'
import type { EventSource } from '@x/exchange/internal'
import type { McpServerLoad } from './shedding-options.ts'

const defaultGraceMs = 5000

/** A server has begun to drain, or has stopped draining. */
export type EmitDrain = (type: 'drain_started' | 'drain_ended') => void

/** The stops that one server's program has announced. */
export class Drains {
  readonly #now: () => number
  // `isHandingOff` is false while balancers may still send calls to this instance. Bounded by the calls of `drain()`.
  readonly #activeDrains = new Set<{
    readonly isHandingOff: boolean
    readonly beganAt: number
    readonly graceMs: number
  }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** True while an announced stop is not withdrawn. */
  get isDraining(): boolean {
    return this.#activeDrains.size > 0
  }

  /**
   * Announces that the server will stop, and returns a function that withdraws the announcement. Running calls are
   * handed off unless `keepCalls` is true. `emit` is called for the first stop, and when the last one is withdrawn.
   */
  beginDrain({ keepCalls = false, graceMs = defaultGraceMs }: DrainOptions, emit: EmitDrain): Undrain {
    checkedNumber('graceMs', graceMs, { min: 0, isWhole: false })
    const drain = { isHandingOff: !keepCalls, beganAt: this.#now(), graceMs }
    const isFirst = !this.isDraining
    this.#activeDrains.add(drain)
    if (isFirst) emit('drain_started')
    return () => {
      if (this.#activeDrains.delete(drain) && !this.isDraining) emit('drain_ended')
    }
  }

  /** True if this share of the grace period has passed for a stop that hands calls off. */
  isGraceUsed(share: number): boolean {
    const now = this.#now()
    for (const { isHandingOff, beganAt, graceMs } of this.#activeDrains)
      if (isHandingOff && now >= beganAt + graceMs * share) return true
    return false
  }
}

/** Also logs how many calls have moved, because a process that stops may end before its metrics are read. */
export function createEmitDrain(
  loadMonitor: { readonly runningCount: number; readServerLoad(): Pick<McpServerLoad, 'counters'> },
  events: Pick<EventSource, 'emit'>,
  log: Log,
): EmitDrain {
  let loggedCount = 0
  return (type) => {
    events.emit?.({ type, runningCount: loadMonitor.runningCount })
    if (type === 'drain_started') return
    const movedCount = loadMonitor.readServerLoad().counters.handOffs.stopping
    if (movedCount === loggedCount) return
    const moved = formatCount(movedCount - loggedCount, 'call')
    log({ level: 'info', message: `${moved} moved to other instances, because this one stops` })
    loggedCount = movedCount
  }
}
