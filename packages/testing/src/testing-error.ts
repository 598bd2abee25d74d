/** Codes of {@link TestingError}. */
export type TestingErrorCode =
  /** The server asked a question for which the test has no answer. */
  | 'unanswered'
  /** The server did not accept an answer, and the test has no other answer. */
  | 'asked_again'
  /** A handler behaved differently when it ran again. */
  | 'not_repeatable'
  /** The factory did not use its kit, so its instances cannot open each other's states, or cannot be stopped. */
  | 'kit_unused'
  /** A call has no step or checkpoint at which it could be stopped. */
  | 'no_steps'
  /** A call that was stopped after a step had another outcome than an uninterrupted call. */
  | 'outcome_differs'
  /** A definition cannot continue recorded states of an earlier version. */
  | 'states_rejected'
  /** The functions of this package were used in a wrong way. */
  | 'usage'

/** A test failed, or is invalid. The message says how to correct it. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
  readonly code: TestingErrorCode

  constructor(code: TestingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True for a {@link TestingError}, also one of another copy of this package. */
export function isTestingError(error: unknown): error is TestingError {
  return error instanceof Error && error.name === 'TestingError' && 'code' in error
}

export function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
