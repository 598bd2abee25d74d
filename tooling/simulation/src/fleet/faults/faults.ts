import type { VirtualTime } from '../platform/virtual-time.ts'
import type { Trace } from '../trace.ts'

/** The fault of one message or of its response. */
export type MessageFault =
  | 'none'
  /** The message never arrives, and its sender is notified. */
  | 'lost'
  /** The message has its effect, and its sender is notified of a broken connection. */
  | 'answer_lost'
  /** The message has no effect, and its sender is never notified. */
  | 'silent'
  /** The message has its effect, and its sender is never notified. */
  | 'answer_silent'
  /** The message arrives twice. */
  | 'doubled'
  /** The response ends before it is complete. */
  | 'cut'

/** The source of all faults in one simulation. */
export interface Faults {
  /** False once the faults have ended. */
  readonly isActive: boolean
  /** The number of faults so far, by kind. */
  readonly counts: ReadonlyMap<string, number>
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  /** Returns the time that a message takes, in milliseconds. */
  delayMs(): number
  /** Returns the fault of a message, which is one of `kinds` if there is one. */
  pickFault(kinds: readonly MessageFault[]): MessageFault
  /** Writes a fault to the trace. */
  record(host: string, kind: string, detail?: string): void
  end(): void
}

/** The share of messages with a fault. Each seed has one of these shares. */
const faultShares = [0, 0.005, 0.02, 0.08]

/** The share of messages that are late, and their greatest delay in milliseconds. */
const lateShare = 0.03
const maxLateMs = 4000

/** The delay of other messages, in milliseconds. */
const minDelayMs = 0.2
const maxDelayMs = 15

/** Creates the faults of one simulation from its own random numbers. No message has a fault if `isCalm` is true. */
export function createFaults(
  random: () => number,
  { time, trace, isCalm }: { readonly time: VirtualTime; readonly trace: Trace; readonly isCalm: boolean },
): Faults {
  const counts = new Map<string, number>()
  const pickedShare = faultShares[Math.floor(random() * faultShares.length)] ?? 0
  const faultShare = isCalm ? 0 : pickedShare
  let isActive = true
  const record: Faults['record'] = (host, kind, detail = '') => {
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    trace.add(host, `fault: ${kind}${detail === '' ? '' : ` (${detail})`}`)
  }
  return {
    get isActive() {
      return isActive
    },
    counts,
    random,
    record,
    delayMs: () => {
      const isLate = isActive && faultShare > 0 && random() < lateShare
      return minDelayMs + random() * ((isLate ? maxLateMs : maxDelayMs) - minDelayMs)
    },
    pickFault: (kinds) => {
      if (!isActive || random() >= faultShare) return 'none'
      return kinds[Math.floor(random() * kinds.length)] ?? 'none'
    },
    end: () => {
      isActive = false
      trace.add('-', `faults end at ${Math.round(time.now())} ms`)
    },
  }
}
