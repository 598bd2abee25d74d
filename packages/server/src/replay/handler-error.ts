import { isLimitError, isUnavailable } from '@x/core'
import { errorCodes, isMcpError, limitErrorToMcp, McpError, unavailableError } from '@x/schema'
import { reportServerError, logContextOf } from '../request/report.ts'
import type { RequestState } from './served-request.ts'

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
  /** The handler returned without waiting for a question or a step. */
  | 'unawaited'
  /** The handler caught the suspension of a question without an answer, and returned. */
  | 'swallowed'
  /** The server was made with `state: false`, so nothing can wait for an answer. */
  | 'state'

/**
 * A handler that uses its context in a way that cannot work. It fails the call even when the handler catches it. It is
 * logged, and the peer receives only that the call failed.
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
export const stateDisabledMessage = 'createServer was given state: false, so nothing can wait for an answer'

/**
 * Returns the error that the peer sees for a failure outside the handler, which is not a result of its tool: an
 * McpError unchanged, everything else without detail. The author receives the original.
 */
export function toInternalError(error: unknown, request: RequestState, name: string): McpError {
  if (isMcpError(error)) return error
  if (isLimitError(error)) return limitErrorToMcp(error)
  // A cancelled call has not failed.
  if (!request.call.signal.aborted) reportServerError(error, logContextOf(request, name), request.settings)
  // The handler may have begun before the part that failed was needed.
  if (isUnavailable(error)) return unavailableError({ begun: true, cause: error })
  return new McpError(errorCodes.internal, 'Internal error')
}

/**
 * The rejection of a `ctx` function whose answer is not there yet: the handler ends, and runs again from the top once
 * the client has answered. It is not a failure. Let it pass, so that `finally` and `using` run.
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
 * It comes from the event loop: its stack would lead nowhere, and cost as much as the rest of a round's bookkeeping.
 */
function createSuspension(message: string): Suspension {
  const { stackTraceLimit } = Error
  // With frozen intrinsics this has no effect.
  Reflect.set(Error, 'stackTraceLimit', 0)
  const suspension = new Suspension(message)
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return suspension
}

/**
 * Returns true for an error that only ends this run of a handler, because a question was asked. Throw it again: work
 * that makes up for a failure must not be done while a user is still thinking.
 */
export function isSuspension(error: unknown): boolean {
  for (let depth = 0, cause: unknown = error; depth < 8 && cause instanceof Error; depth++, cause = cause.cause) {
    if (cause instanceof Suspension) return true
  }
  return false
}

/**
 * Refuses a key that is not 1 to 128 letters, digits and `_ - . : /`. The keys of questions go over the wire, where `~`
 * marks the second and every further time that one is asked.
 */
export function checkHandlerKey(key: unknown, functionName: string): asserts key is string {
  if (typeof key === 'string' && /^[A-Za-z0-9_.:/-]{1,128}$/.test(key)) return
  const shownKey = typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : String(key)
  const rule = 'a key is 1 to 128 letters, digits and "_-.:/"; in a loop, put the item into it ("confirm/17")'
  throw new HandlerError('key', `${functionName} was given the key ${shownKey}: ${rule}`)
}

/**
 * Under which name a question of an explicit round goes over the wire where no key may be used twice. No key
 * of an author has a `~`, so it differs from all of them.
 */
export function formatExplicitKey(key: string, round: number): string {
  return `${key}~r${round}`
}

/** Under which name a question goes over the wire: its key, and from the second time on how often it was asked. */
export function formatWireKey(key: string, occurrence: number): string {
  return occurrence === 1 ? key : `${key}~${occurrence}`
}
