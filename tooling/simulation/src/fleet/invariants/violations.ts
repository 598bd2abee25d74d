/** The rules that every simulation must satisfy, with any faults. */
export const invariants = {
  calls: 'every call ends, with the right result once the faults have ended',
  statuses: 'the statuses of a task follow one another legally, and a terminal status is final',
  leases: 'no write succeeds with an old lease, and attempts increase by one',
  journal: 'a claim reads exactly what was recorded, and no step has two values',
  answers: 'an answer contains the text of its question, and a user is asked only questions of the own calls',
  owners: 'no caller sees a task of another',
  idempotency: 'one idempotency key makes at most one task',
  steps: 'the idempotency key of a step never changes',
  rounds: 'a round of an older client continues once',
  upstreams: 'a gateway is ready again, without a call, once its upstreams are back',
  reasons: 'a call that fails says why',
  stops: 'the stop of an instance ends in time',
  rejections: 'no rejection is unhandled',
  sessions: 'a session has exactly the items of its own calls',
  changes: 'with a healthy network, a client that listens receives a change within 2 seconds',
  latency: 'with a healthy network, a client that listens has its result within 2 seconds',
  quotas: 'an idle instance counts nothing for any caller',
} as const

/** The name of an invariant. */
export type Invariant = keyof typeof invariants

/** A broken invariant. */
export interface Violation {
  readonly invariant: Invariant
  readonly atMs: number
  readonly detail: string
}

/** Receives broken invariants. */
export type ReportViolation = (invariant: Invariant, detail: string) => void
