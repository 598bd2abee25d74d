import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  legacyResourceNotFound,
  type WireError,
  type Failure,
} from '@x/schema'
import { mayHaveRun } from './may-have-run.ts'

/** The reason of a {@link ClientError}. Only `rpc` and `unsupported_version` come from the peer. */
export type ClientErrorCode =
  /** The server answered with an error, or the connection did not send what an older server does not have: see `rpc`. */
  | 'rpc'
  /** The server serves no protocol revision that this client speaks. */
  | 'unsupported_version'
  /** No response arrived. The `cause` is the error of the transport. */
  | 'transport'
  /** No response arrived in time, and the call was cancelled. */
  | 'timeout'
  /** The result does not conform to the specification. The message contains the path. */
  | 'invalid_result'
  /** The server asks for input of a kind that this client has not declared, or for which it has no handler. */
  | 'input_required'
  /**
   * An answer to the server's question does not match the question, so it was not sent. The message contains the key
   * and the path.
   */
  | 'invalid_answer'
  /** The value to resume is not a pending call, so nothing was sent. */
  | 'invalid_pending'
  /** The server asked for input more often than the limit for one call. */
  | 'too_many_rounds'
  /** An argument cannot be encoded in the HTTP header that the tool requires for it, so nothing was sent. */
  | 'invalid_arguments'
  /** The structured result does not match the tool's output schema. */
  | 'invalid_output'
  /** The tool's output schema cannot be used, so nothing was sent. */
  | 'schema_refused'
  /** A list does not end, because the server sent one cursor twice, or the list has too many pages or characters. */
  | 'endless_list'

/** The call that an error belongs to. */
export interface CallErrorContext {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly target?: string | undefined
  /** The name in the server's own description, and its address. */
  readonly server?: string | undefined
}

/** A call that failed. The message contains the call, the server and the reason. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  readonly method: string
  readonly target: string | undefined
  readonly server: string | undefined
  /**
   * The JSON-RPC error of the server, which is untrusted. Undefined for every failure that is not an error response of
   * the server.
   */
  readonly rpc: WireError | undefined
  /**
   * False if the call surely had no effect: it was not sent, the server refused it, or its method only reads. Then it is
   * safe to call again. True if the server may have run it.
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

/** The function that captures a stack, in engines that have it. The types for browsers omit it. */
const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

/**
 * Replaces the stack of an error by the current stack, which contains the async callers. The error was created in a
 * callback of a transport or a timer, whose stack does not contain them. Returns the error.
 */
export function withCallerStack(error: unknown): unknown {
  if (error instanceof ClientError && typeof captureStackTrace === 'function') captureStackTrace(error, withCallerStack)
  return error
}

// The results are not members of the error, because printing an error must not print content of the server.
const unknownTypeResults = new WeakMap<ClientError, JsonObject>()

/** Attaches a result with an unknown `resultType` to the error that it caused. */
export function attachUnknownResult(error: ClientError, result: JsonObject): ClientError {
  unknownTypeResults.set(error, result)
  return error
}

/**
 * Returns the untrusted result with an unknown `resultType` that made a call fail, for an extension that knows this
 * type. Returns undefined for every other error.
 */
export function unknownTypeResultOf(error: unknown): JsonObject | undefined {
  return error instanceof ClientError ? unknownTypeResults.get(error) : undefined
}

/** Returns true for a {@link ClientError}, from this copy of the package or another. */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError' && 'method' in error && 'code' in error
}

/**
 * Returns true if the server says that a resource does not exist, with the error code of this revision or of earlier
 * ones (server/resources, error handling).
 */
export function isResourceNotFound(error: unknown): boolean {
  if (!isClientError(error) || error.rpc === undefined) return false
  const { code, data } = error.rpc
  return code === legacyResourceNotFound || (code === errorCodes.invalidParams && isJsonObject(data) && 'uri' in data)
}

/**
 * Returns the path and reason of a failed check as text. If the path is empty, because the whole value is wrong,
 * `wholeValueName` replaces it.
 */
export function describeCheckFailure({ path, expected, got }: Failure, wholeValueName = ''): string {
  const valueName = toPrintableName(path.replace(/^\./, '')) || wholeValueName
  const reason = `expected ${expected}, got ${got}`
  return valueName === '' ? reason : `${valueName}: ${reason}`
}

/** Returns a key from the server, quoted for an error message. */
export function toPrintableKey(key: string): string {
  return JSON.stringify(toPrintableName(key))
}

function toPrintableName(name: string): string {
  return name.slice(0, 128).replaceAll(/\p{C}/gu, ' ')
}
