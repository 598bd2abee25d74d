/** Why a call failed, as {@link ClientError} has it. Only `rpc` and `unsupported_version` come from the peer. */
export type ClientErrorCode =
  /** The server answered with an error, or the connection held back what an older server does not have: see `rpc`. */
  | 'rpc'
  /** None of the server's protocol revisions is one that this client speaks. */
  | 'unsupported_version'
  /** No response arrived. Its `cause` is the transport's error. */
  | 'transport'
  /** No response arrived in time, and the call was cancelled. */
  | 'timeout'
  /** A result that does not conform to the specification. The message contains the path. */
  | 'invalid_result'
  /** A question of a kind that this client has not declared, or for which it has no handler. */
  | 'input_required'
  /** An answer does not match its question, so it was not sent. The message contains the key and the path. */
  | 'invalid_answer'
  /** What was to be resumed is not a pending call, so nothing was sent. */
  | 'invalid_pending'
  /** More questions than one call may have. */
  | 'too_many_rounds'
  /** An argument cannot be encoded in the HTTP header that the tool requires for it, so nothing was sent. */
  | 'invalid_arguments'
  /** Structured content that does not match the tool's output schema. */
  | 'invalid_output'
  /** An output schema that cannot be used, so nothing was sent. */
  | 'schema_refused'
  /** A list without an end: one cursor twice, or too many pages or characters. */
  | 'endless_list'

/** What the client does after a failure, by its code. No other file of this package compares codes. */
interface ClientErrorRow {
  /** Where the reason is: in the server's error, in the transport's, or in the code alone. */
  readonly reason: 'rpc' | 'cause' | 'code'
  readonly isUnsent?: true
  readonly isPermanent?: true
}

// Each code has a row, often `{ reason: 'code' }`: `isUnsent` if nothing was sent, `isPermanent` if a repetition fails.
const rows: Readonly<Record<ClientErrorCode, ClientErrorRow>> = {
  rpc: { reason: 'rpc' },
  unsupported_version: { reason: 'code', isUnsent: true, isPermanent: true },
  transport: { reason: 'cause' },
  timeout: { reason: 'code' },
  invalid_result: { reason: 'code' },
  input_required: { reason: 'code', isPermanent: true },
  invalid_answer: { reason: 'code' },
  invalid_pending: { reason: 'code' },
  too_many_rounds: { reason: 'code' },
  invalid_arguments: { reason: 'code', isUnsent: true },
  invalid_output: { reason: 'code' },
  schema_refused: { reason: 'code', isUnsent: true },
  endless_list: { reason: 'code' },
}

/** Finds the row of a code, which may be one of another version of this package. */
export function findErrorRow(code: string): ClientErrorRow {
  const known: Readonly<Record<string, ClientErrorRow>> = rows
  return (Object.hasOwn(rows, code) ? known[code] : undefined) ?? { reason: 'code' }
}
