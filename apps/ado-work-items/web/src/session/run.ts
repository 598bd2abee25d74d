import type { RoundView } from '@x/client'
import type { InputRequests, JsonObject, JsonValue } from '@x/schema'
import { type Instance, readInstance } from '../../../src/fleet/instance-meta.ts'
import type { RoundMessages } from './messages.ts'

/** A question of the server, and the answer to it. */
export interface AskedThing {
  readonly key: string
  readonly message: string
  /** The description of the answer. Undefined until the user answers. */
  readonly answer?: string | undefined
}

/** One request of a call and its response. */
export interface RoundEntry {
  readonly round: number
  readonly status: RoundView['status']
  /** The instance that responded, if the response names it. */
  readonly instance: Instance | undefined
  readonly durationMs: number
  /** The size of its state, in bytes. */
  readonly stateBytes: number
  readonly isRestarted: boolean
  readonly asked: readonly AskedThing[]
  /** The messages of the round. */
  readonly messages: RoundMessages | undefined
}

/** The outcome of a call, as text for the user. */
export interface Outcome {
  readonly kind: 'done' | 'rejected' | 'failed' | 'stopped'
  readonly text: string
  readonly structured?: JsonValue | undefined
}

/** A call of a tool, with its rounds so far. */
export interface Run {
  readonly id: number
  readonly tool: string
  readonly args: JsonObject
  /** The start time, in milliseconds since 1970. */
  readonly startedAt: number
  readonly rounds: readonly RoundEntry[]
  /** The outcome. Undefined while the call runs. */
  readonly outcome?: Outcome | undefined
}

/** Returns the run with one more round. */
export function withRound(run: Run, view: RoundView, messages?: RoundMessages): Run {
  const { round, status, durationMs, stateBytes, isRestarted } = view
  const entry: RoundEntry = {
    round,
    status,
    durationMs,
    stateBytes: messages?.stateBytes ?? stateBytes,
    isRestarted,
    instance: messages?.instance ?? instanceIn(view.meta),
    asked: askedIn(view.requests),
    messages,
  }
  return { ...run, rounds: [...run.rounds, entry] }
}

/** Identifies the answered question of a run. */
export interface AnsweredQuestion {
  readonly round: number
  readonly key: string
  readonly answer: string
}

/** Returns the run with the answer of the user. */
export function withAnswer(run: Run, { round, key, answer }: AnsweredQuestion): Run {
  const rounds = run.rounds.map((entry) =>
    entry.round === round
      ? { ...entry, asked: entry.asked.map((one) => (one.key === key ? { ...one, answer } : one)) }
      : entry,
  )
  return { ...run, rounds }
}

/** Returns the numbers of the instances that responded, each once, in the order of their first response. */
export function instancesOf(run: Run): readonly number[] {
  return [...new Set(run.rounds.flatMap(({ instance }) => (instance === undefined ? [] : [instance.id])))]
}

function instanceIn(meta: JsonObject | undefined): Instance | undefined {
  return meta && readInstance({ jsonrpc: '2.0', id: 0, result: { resultType: 'complete', _meta: meta } })
}

function askedIn(requests: InputRequests): readonly AskedThing[] {
  return Object.entries(requests).map(([key, request]) => ({
    key,
    message: request.method === 'elicitation/create' ? request.params.message : `asks for ${request.method}`,
  }))
}
