import { isCancelled, isLimitError, isUnavailable } from '@x/core'
import { limitErrorToMcp, unavailableError } from '@x/exchange'
import { createSuspension } from '@x/exchange/internal'
import { errorCodes, isMcpError, McpError } from '@x/schema'
import type { ServedRequest } from './served-request.ts'

/** How a handler can misuse its context. */
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
  /** A question was asked, but the server has `state: false` and cannot wait for an answer. */
  | 'state'

/**
 * Thrown when a handler misuses its context. It fails the call even if the handler catches it; the details are logged,
 * and the client receives only that the call failed.
 */
export class HandlerError extends Error {
  override readonly name = 'HandlerError'
  readonly code: HandlerErrorCode

  constructor(code: HandlerErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** True for a {@link HandlerError}, from this copy of the package or another. */
export function isHandlerError(error: unknown): error is HandlerError {
  return error instanceof Error && error.name === 'HandlerError' && 'code' in error
}

/** Why a server without state cannot ask its clients. */
export const stateDisabledMessage = 'createServer was given state: false, so nothing can wait for an answer'

/**
 * Makes the error that the client gets for a failure outside the handler. An `McpError` stays as it is and a limit
 * error is converted; anything else is logged, and the client receives no details.
 */
export function toInternalError(
  error: unknown,
  run: { readonly request: ServedRequest; readonly report: (error: unknown) => void },
): McpError {
  if (isMcpError(error)) return error
  if (isLimitError(error)) return limitErrorToMcp(error)
  // A cancelled call has not failed, so nothing is logged.
  if (!isCancelled(run.request.call)) run.report(error)
  // `begun` is true, because the handler may have begun before it needed what was unavailable.
  return unavailableErrorOf(error, { begun: true }) ?? new McpError(errorCodes.internal, 'Internal error')
}

/** Makes the error that the client gets if a dependency is unreachable; undefined for any other error. */
export function unavailableErrorOf(cause: unknown, { begun }: { readonly begun: boolean }): McpError | undefined {
  return isUnavailable(cause) ? unavailableError({ begun, cause }) : undefined
}

/** The message names the questions that the call waits for. */
export function suspensionFor(keys: readonly string[]): Error {
  if (keys.length === 0) return createSuspension('The handler runs again from the top; let this error pass')
  return createSuspension(
    `The call waits for ${keys.map((key) => JSON.stringify(key)).join(', ')}; let this error pass`,
  )
}
