import { isCancelled, isLimitError, isUnavailable } from '@x/core'
import { limitErrorToMcp, unavailableError } from '@x/exchange'
import { errorCodes, isMcpError, McpError } from '@x/schema'
import type { ServedRequest } from './served-request.ts'

/** The kinds of mistakes that a handler can make when it uses its context. */
export type HandlerErrorCode =
  /** A key does not consist of 1 to 128 letters, digits or `_ - . : /`. */
  | 'key'
  /** The handler used the same key twice in one run. */
  | 'duplicate'
  /** The context was used after the call had ended. */
  | 'ended'
  /** The context was used inside a step. */
  | 'nested'
  /** The result of a step, or the value of a checkpoint, is not JSON. */
  | 'json'
  /** A question cannot be expressed in the protocol, or differs in every run. */
  | 'question'
  /** The handler returned without waiting for a question or a step. */
  | 'unawaited'
  /** The handler caught the suspension of an unanswered question, and returned. */
  | 'swallowed'
  /** The handler asked a question, but the server has `state: false`, so it cannot wait for an answer. */
  | 'state'

/**
 * The error of a handler that misuses its context. The call fails even if the handler catches the error. The error is
 * logged, and the client receives only that the call failed.
 */
export class HandlerError extends Error {
  override readonly name = 'HandlerError'
  readonly code: HandlerErrorCode

  constructor(code: HandlerErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Returns true if a value is a {@link HandlerError}, from this copy of the package or another. */
export function isHandlerError(error: unknown): error is HandlerError {
  return error instanceof Error && error.name === 'HandlerError' && 'code' in error
}

/** The reason why a server without state cannot ask its clients. */
export const stateDisabledMessage = 'createServer was given state: false, so nothing can wait for an answer'

/**
 * Returns the error that the client receives for a failure outside the handler. An `McpError` is returned unchanged,
 * and a limit error is converted. Any other error is logged, and the client receives no details.
 */
export function toInternalError(
  error: unknown,
  run: { readonly request: ServedRequest; readonly report: (error: unknown) => void },
): McpError {
  if (isMcpError(error)) return error
  if (isLimitError(error)) return limitErrorToMcp(error)
  // A cancelled call is not logged, because it has not failed.
  if (!isCancelled(run.request.call)) run.report(error)
  // `begun` is true, because the handler may have begun before the unavailable part was needed.
  return unavailableErrorOf(error, { begun: true }) ?? new McpError(errorCodes.internal, 'Internal error')
}

/** Returns the error that the client receives if a dependency is unreachable, and undefined for any other error. */
export function unavailableErrorOf(cause: unknown, { begun }: { readonly begun: boolean }): McpError | undefined {
  return isUnavailable(cause) ? unavailableError({ begun, cause }) : undefined
}

/**
 * The rejection of a `ctx` function that cannot return in this run, for example because a question has no answer yet.
 * The handler runs again from its beginning when the client has answered. A suspension is not a failure, so a handler
 * that catches it must throw it again. `finally` and `using` run as usual.
 */
class Suspension extends Error {
  override readonly name = 'Suspension'
}

/** Returns a suspension whose message names the questions that the call waits for. */
export function suspensionFor(keys: readonly string[]): Error {
  if (keys.length === 0) return createSuspension('The handler runs again from the top; let this error pass')
  return createSuspension(
    `The call waits for ${keys.map((key) => JSON.stringify(key)).join(', ')}; let this error pass`,
  )
}

/**
 * Creates a suspension without a stack. It is created in a callback of the event loop, so its stack would not show the
 * handler. A stack would cost as much as all other bookkeeping of a round.
 */
function createSuspension(message: string): Suspension {
  const { stackTraceLimit } = Error
  // `Reflect.set` does not throw when intrinsics are frozen.
  Reflect.set(Error, 'stackTraceLimit', 0)
  const suspension = new Suspension(message)
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return suspension
}

/**
 * Returns true for an error that only ends this run of a handler, for example because a question has no answer yet.
 * Throw such an error again. Do not undo earlier work because of this error, because the call continues when the user
 * has answered.
 */
export function isSuspension(error: unknown): boolean {
  for (let depth = 0, cause: unknown = error; depth < 8 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause instanceof Suspension) return true
  }
  return false
}
