import type { InputRequests, JsonObject } from '@x/schema'

/** One response of a call that may ask for input, for whoever watches; nothing of the state or the answers. */
export interface RoundView {
  readonly method: string
  readonly target: string | undefined
  /** 1 for the first request of the call. */
  readonly round: number
  readonly status: 'input_required' | 'complete'
  /** What the server asks; empty when it only wants the call again, or is done. */
  readonly requests: InputRequests
  /** UTF-8 bytes of the state that the server handed over. */
  readonly stateBytes: number
  /** From the request to its response, in milliseconds. */
  readonly durationMs: number
  /** Whether the call was started afresh before this round. */
  readonly isRestarted: boolean
  /** The result's `_meta`, untrusted. */
  readonly meta: JsonObject | undefined
}

/** The pause before a round that only hands the call over, in milliseconds. */
export interface PauseBounds {
  /** The longest first pause; each further one in a row may be twice as long. Default 50. */
  readonly first?: number | undefined
  /** The longest of all. Default 5000. */
  readonly most?: number | undefined
}

/** How a call goes on when the server answers `input_required` (basic/patterns/mrtr). */
export interface RoundOptions {
  /** How often the server may answer `input_required` to one call. Default 10. */
  readonly limit?: number | undefined
  /** How long to wait before a retry that nobody was asked for. A random half of each pause is left out. */
  readonly pauseMs?: PauseBounds | undefined
  /** How long a call may take with all its rounds and answers, in milliseconds. Default: no bound but the call's signal. */
  readonly totalTimeoutMs?: number | undefined
  /** How long the answers of one round may take, in milliseconds. Default: no bound, because people take their time. */
  readonly answerTimeoutMs?: number | undefined
  /**
   * Whether to start the call afresh, once, when the server no longer takes its own state. What earlier rounds did is then
   * done again, and people are asked again. Default: for prompts, resources, and tools listed as read-only or idempotent.
   */
  readonly restart?: boolean | undefined
  /** Told of each response; what it throws fails the call. */
  readonly onRound?: ((round: RoundView) => void) | undefined
}

/** What holds for one call: what it says itself, else what its client says. */
export function roundRules(client: RoundOptions = {}, call: RoundOptions = {}): RoundOptions {
  return {
    limit: call.limit ?? client.limit,
    pauseMs: call.pauseMs ?? client.pauseMs,
    totalTimeoutMs: call.totalTimeoutMs ?? client.totalTimeoutMs,
    answerTimeoutMs: call.answerTimeoutMs ?? client.answerTimeoutMs,
    restart: call.restart ?? client.restart,
    onRound: call.onRound ?? client.onRound,
  }
}
