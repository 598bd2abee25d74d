/** The mistakes of a handler in the use of its context. */
export type HandlerProblem =
  /** A key is not of the form that keys have. */
  | 'key'
  /** One key was used twice in one run. */
  | 'duplicate'
  /** The context was used after the call had ended. */
  | 'ended'
  /** The context was used inside a step. */
  | 'nested'
  /** The result of a step, or the value of a checkpoint, is not JSON. */
  | 'json'
  /** A question cannot be asked in the protocol's terms, or is another one in every run. */
  | 'question'
  /** The server was made with `state: false`, so nothing can wait for an answer. */
  | 'state'

/**
 * A handler that uses its context in a way that cannot work. It fails the call even when the handler catches it; the
 * author is told of it, the peer only that the call failed.
 */
export class HandlerError extends Error {
  override readonly name = 'HandlerError'
  readonly code: HandlerProblem

  constructor(code: HandlerProblem, message: string) {
    super(message)
    this.code = code
  }
}

/** The reason why a server without state cannot ask its clients. */
export const withoutState = 'createServer was given state: false, so nothing can wait for an answer'

/** Returns true for a {@link HandlerError}. */
export function isHandlerError(error: unknown): error is HandlerError {
  return error instanceof HandlerError
}
