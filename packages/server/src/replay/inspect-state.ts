import { checkArgument } from '@x/core'
import type { JsonObject, JsonValue } from '@x/schema'
import { inspectToken, type KeyedOptions, StateError } from '@x/state-codec'
import { journalMemberNames, parseJournal, serializeJournal } from './journal-format.ts'
import { statePurpose } from './seal-state.ts'

/** The content of a `requestState`, for an operator's eyes. Times are milliseconds since 1970. */
export interface StateReport {
  /** The key that sealed the state. */
  readonly keyId: string
  readonly sealedAt: number
  /** When the state expires, or expired. */
  readonly expiresAt: number
  /** The service that the state is for. */
  readonly audience: string | undefined
  readonly callId: string
  readonly startedAt: number
  /** How many rounds have asked the client. */
  readonly round: number
  readonly handOffCount: number
  /** Every question, with the answer if it had arrived when the state was sealed. */
  readonly questions: readonly { readonly key: string; readonly answer?: JsonObject | undefined }[]
  /** Recorded results of steps, by key. Null for a step without a result. */
  readonly steps: JsonObject
  readonly checkpoints: JsonObject
  /** The journal as a `JournalStore` takes it, to run the handler again. */
  readonly journal: JsonObject
}

/**
 * Opens a `requestState` with nothing but the server's keys, for operators and debuggers. It proves that one of the
 * keys made the state, and checks neither expiry nor binding to a service, a caller, a target and arguments. So only
 * look at the result, or replay it where no step is executed.
 *
 * @throws StateError with `unknown_key` for a key that is not given, `forged` for a state that was altered or sealed
 * for another purpose, `purpose` for a signed one of another purpose, and `malformed` for a text that is no token or a
 * journal of another version.
 * @throws StateUsageError for invalid keys.
 */
export async function inspectState(
  token: string,
  options: { readonly keys: KeyedOptions['keys'] },
): Promise<StateReport> {
  checkArgument(options, { where: 'inspectState', takes: 'a state and an object with keys', needs: ['keys'] })
  const { keys } = options
  const { value, since, ...claims } = await inspectToken(token, {
    keys,
    purpose: statePurpose,
    memberNames: journalMemberNames,
  })
  const journal = parseJournal(value, since)
  if (journal === undefined)
    throw new StateError('malformed', 'It has a journal of a format that this version cannot read')
  const { callId, startedAt, round, shedCount, stopCount, questions, steps, checkpoints } = journal
  return {
    ...claims,
    callId,
    startedAt,
    round,
    handOffCount: shedCount + stopCount,
    questions: Array.from(questions, ([key, { response }]) => ({ key, ...(response && { answer: response }) })),
    steps: Object.fromEntries(Array.from(steps, ([key, step]): [string, JsonValue] => [key, step.value ?? null])),
    checkpoints: Object.fromEntries(checkpoints),
    journal: serializeJournal(journal),
  }
}
