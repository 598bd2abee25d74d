import type { JsonObject, LogContext, LogRecord } from '@x/core'
import type { Call } from '../call/exchange.ts'

/** How one run of a handler ended. */
export type RunEndKind = 'finished' | 'failed' | 'asked' | 'handed_off' | 'became_task' | 'cancelled'

/** A call of the server, with its method and the tool, prompt or resource that it is for. */
export interface CallSubject {
  /** As the handler received it. Its context has the values that middleware added. */
  readonly call: Call
  readonly method: string
  /** Name of the tool or prompt, or URI of the resource. */
  readonly name: string
}

/**
 * Events of a server, by type. None contains arguments, answers, results, states or tokens. An error may contain any
 * text that its author put into it.
 */
export interface ServerEvents {
  /** A call continues with the journal that an earlier run left in `requestState` or in a task. */
  resume: CallSubject & {
    /** Rounds in which the client was asked. */
    readonly round: number
    readonly handOffCount: number
    /** When the call began, in milliseconds since 1970. */
    readonly startedAt: number
    /** What the extensions of the earlier run recorded, by name. */
    readonly recordedParts: Readonly<Record<string, JsonObject>>
  }
  /** A run of a handler has ended. A call that asks its client has a run for each round. */
  run: CallSubject & {
    readonly end: RunEndKind
    readonly round: number
    /** Steps whose work this run has done. */
    readonly stepCount: number
    /** Questions that this run leaves to its client. */
    readonly questionCount: number
    readonly handOffCount: number
    readonly startedAt: number
    readonly durationMs: number
    /** Error of a run that failed. */
    readonly error: unknown
  }
  /** The work of a step has ended. A step whose result is in the journal causes no event. */
  step: CallSubject & { readonly key: string; readonly durationMs: number; readonly error: unknown }
  /** A run asks its client. */
  question: CallSubject & {
    readonly key: string
    /** Method of the input request, such as `elicitation/create`. */
    readonly kind: string
    /** How often the question was asked before. */
    readonly repeatCount: number
  }
  /** The handler has read the answer to a question for the first time. */
  answer: CallSubject & {
    readonly key: string
    readonly kind: string
    /** What the user answered. `accept` for answers of other kinds than elicitation. */
    readonly action: 'accept' | 'decline' | 'cancel' | 'invalid'
  }
  /** A call leaves this instance with its state, and its client sends it to another one. */
  hand_off: CallSubject & {
    readonly reason: 'load' | 'policy' | 'stopping'
    /** Hand-offs of the call so far, including this one. */
    readonly handOffCount: number
    /** The load when that was decided. */
    readonly load: {
      readonly running: number
      readonly eventLoopDelayMs: number
      /** Used share of the heap limit, from 0 to 1. Undefined if the heap is not measured. */
      readonly heapShare: number | undefined
    }
  }
  /** A `requestState` was rejected. `code` is the code of the codec's error, or `journal`. */
  state_rejected: { readonly call: Call; readonly name: string; readonly code: string }
  /** A call was refused because of a limit. `reason` is `quota` for a limit of one caller. */
  call_refused: {
    readonly call: Call
    readonly method: string
    readonly name: string | undefined
    readonly reason: 'overloaded' | 'quota'
    readonly limit: string
  }
  /** A transport rejected a request. The server did not receive it. */
  request_refused: {
    readonly transport: 'http' | 'stdio'
    /** HTTP status. Undefined for other transports, and for a connection that was closed without an answer. */
    readonly status: number | undefined
    /** Which check rejected the request. */
    readonly reason: 'host' | 'origin' | 'media_type' | 'headers' | 'size' | 'syntax' | 'authentication' | 'connection'
  }
  /** A stream of changes was acknowledged. */
  stream_opened: { readonly call: Call; readonly topicCount: number }
  /** An acknowledged stream of changes has ended. */
  stream_closed: {
    readonly call: Call
    readonly durationMs: number
    /** `expired` means that the caller's token has expired. */
    readonly reason: 'client' | 'server' | 'expired' | 'slow_reader' | 'error'
  }
  /**
   * A call has become a task. `taskDigest` is a digest of its id, because a reader could use the task with the id
   * itself. Undefined on platforms without synchronous digests.
   */
  task_created: { readonly taskDigest: string | undefined; readonly tool: string; readonly call: Call }
  /** A worker of this instance has claimed a task. */
  attempt_started: {
    readonly taskDigest: string | undefined
    readonly tool: string
    /** Which attempt this is, from 1. */
    readonly attempt: number
    /** Leases that expired since a step was last recorded. */
    readonly failures: number
    /** Milliseconds for which the task was ready, or since its last lease expired. */
    readonly waitedMs: number
    /** Recorded entries of the journal. */
    readonly entryCount: number
  }
  /** An attempt of this instance has ended. */
  attempt_ended: {
    readonly taskDigest: string | undefined
    readonly tool: string
    readonly attempt: number
    readonly durationMs: number
    readonly journalBytes: number
    /** With `lost`, another worker has the task. */
    readonly end: 'completed' | 'failed' | 'cancelled' | 'suspended' | 'released' | 'requeued' | 'lost'
  }
  /** A stop was announced. */
  drain_started: { readonly runningCount: number }
  /** The announcement was withdrawn, or the server closes. Handlers that still run when it closes are aborted. */
  drain_ended: { readonly runningCount: number }
  /** An error whose details no caller sees. It is in the log too. */
  error: { readonly error: unknown; readonly where: LogContext }
  /** A warning, as it is in the log. */
  warning: { readonly warning: LogRecord }
}

/** `type` determines the other members. */
export type ServerEvent = {
  [Type in keyof ServerEvents]: { readonly type: Type } & ServerEvents[Type]
}[keyof ServerEvents]
