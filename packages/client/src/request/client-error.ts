import { messageOf, toPrintableLine } from '@x/core'
import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  legacyResourceNotFound,
  type WireError,
  type Failure,
} from '@x/schema'
import { type ClientErrorCode, findErrorRow } from './client-error-codes.ts'
import { hasEffects, mayHaveRun } from './may-have-run.ts'

/** Which call an error belongs to. */
export interface CallErrorContext {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly target?: string | undefined
  /** The server's own name for itself, and its address. */
  readonly server?: string | undefined
}

/** A failed call. Its message names the call, the server and the reason. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  readonly method: string
  readonly target: string | undefined
  readonly server: string | undefined
  /** The server's JSON-RPC error, which is untrusted. Undefined for every other failure. */
  readonly rpc: WireError | undefined
  /**
   * False if the call surely had no effect, so that you may call again: none of its requests was sent, the server refused
   * them, or its method only reads. True if the server may have run it: a call that was sent again, or whose question was
   * answered, has earlier requests than the one that failed.
   */
  readonly mayHaveRun: boolean

  constructor(
    code: ClientErrorCode,
    reason: string,
    {
      method,
      target,
      server,
      rpc,
      cause,
    }: CallErrorContext & { readonly rpc?: WireError | undefined; readonly cause?: unknown },
  ) {
    const requestLabel = target === undefined ? method : `${method} ${JSON.stringify(target)}`
    super(
      `${requestLabel}${server === undefined ? '' : ` on ${server}`}: ${reason}`,
      cause === undefined ? undefined : { cause },
    )
    this.code = code
    this.method = method
    this.target = target
    this.server = server
    this.rpc = rpc
    this.mayHaveRun = mayHaveRun(code, { method, rpc, cause })
  }
}

/** Marks the error of a call that had an earlier request, which may have run although the last one surely has not. */
export function withEarlierRun<T>(method: string, error: T): T {
  if (isClientError(error) && hasEffects(method)) setMayHaveRun(error)
  return error
}

function setMayHaveRun(error: { mayHaveRun: boolean }): void {
  error.mayHaveRun = true
}

/** Exists in some engines only; the types for browsers omit it. */
const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

/** Frames of this package and of Node's timers, which come before those of the caller. */
const innerFrameCount = 20

/**
 * Replaces an error's stack by the current one, which shows the async callers. The error was created in a callback of a
 * transport or timer, where the stack does not have them.
 */
export function withCallerStack(error: unknown): unknown {
  if (!(error instanceof ClientError) || typeof captureStackTrace !== 'function') return error
  const stackTraceLimit: unknown = Reflect.get(Error, 'stackTraceLimit')
  if (typeof stackTraceLimit === 'number' && stackTraceLimit > 0)
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit + innerFrameCount)
  captureStackTrace(error, withCallerStack)
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
  return error
}

// Beside the errors and not in them, because printing an error must not print content of the server.
const unknownTypeResults = new WeakMap<ClientError, JsonObject>()

export function attachUnknownResult(error: ClientError, result: JsonObject): ClientError {
  unknownTypeResults.set(error, result)
  return error
}

/**
 * The untrusted result with an unknown `resultType` that made a call fail, for an extension that knows the type.
 * Undefined for every other error.
 */
export function unknownTypeResultOf(error: unknown): JsonObject | undefined {
  return error instanceof ClientError ? unknownTypeResults.get(error) : undefined
}

/** Encodes arguments of a call. Its errors become {@link ClientError}, or they would be taken for errors of the server. */
export function encodeArguments<T>(encode: () => T, getErrorContext: () => CallErrorContext): T {
  try {
    return encode()
  } catch (error) {
    throw new ClientError('invalid_arguments', messageOf(error), getErrorContext())
  }
}

/** True for a {@link ClientError}, also one of another copy of this package. */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError' && 'method' in error && 'code' in error
}

/** True if no response arrived, so that the transport's error has the reason. */
export function isUnanswered(error: unknown): error is ClientError {
  return isClientError(error) && findErrorRow(error.code).reason === 'cause'
}

/** True if the server answered, so that the failure is about the call alone. */
export function isAnswered({ code }: ClientError): boolean {
  return findErrorRow(code).reason === 'rpc'
}

/**
 * True if the server says that a resource does not exist, in the error code of this revision or of an earlier one
 * (server/resources, error handling).
 */
export function isResourceNotFound(error: unknown): boolean {
  if (!isClientError(error) || error.rpc === undefined) return false
  const { code, data } = error.rpc
  return code === legacyResourceNotFound || (code === errorCodes.invalidParams && isJsonObject(data) && 'uri' in data)
}

/**
 * Writes the path and reason of a failed check. An empty path means that the whole value is wrong; `wholeValueName`
 * then stands for it.
 */
export function describeCheckFailure({ path, expected, got }: Failure, wholeValueName = ''): string {
  const valueName = toPrintableLine(path.replace(/^\./, ''), 128) || wholeValueName
  const reason = `expected ${expected}, got ${got}`
  return valueName === '' ? reason : `${valueName}: ${reason}`
}
