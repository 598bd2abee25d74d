/** The reason of a {@link TestingError}. */
export type TestingProblem =
  /** The server asked something for which the test has no answer. */
  | 'unanswered'
  /** The server did not accept an answer, and the test has no other one. */
  | 'asked_again'
  /** A handler did not do the same when it ran again. */
  | 'not_repeatable'
  /** The factory ignored its kit, so that its instances cannot open each other's states, or cannot be stopped. */
  | 'kit_unused'
  /** A call has no step or checkpoint at which it could be stopped. */
  | 'no_steps'
  /** A call that was stopped at a step ended in another way than one that was not. */
  | 'outcome_differs'
  /** A definition does not continue recorded states of an earlier version. */
  | 'states_rejected'
  /** The functions of this package were used in a wrong way. */
  | 'usage'

/** A test that failed, or that was written in a wrong way. Its message says what to write. */
export class TestingError extends Error {
  override readonly name = 'TestingError'
  readonly code: TestingProblem

  constructor(code: TestingProblem, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Returns true for a {@link TestingError}, from this copy of the package or another. */
export function isTestingError(error: unknown): error is TestingError {
  return error instanceof Error && error.name === 'TestingError' && 'code' in error
}

/** A value for a message, never long. */
export function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
