import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  legacyResourceNotFound,
  type WireError,
  type Failure,
} from '@x/schema'

/** The reason of a {@link ClientError}. Only `rpc` and `unsupported_version` come from the peer. */
export type ClientErrorCode =
  /** The server answered with an error: see `rpc`. */
  | 'rpc'
  /** The server serves no protocol revision that this client speaks. */
  | 'unsupported_version'
  /** No response arrived: the cause is the transport's own error. */
  | 'transport'
  /** No response arrived in time, and the call was cancelled. */
  | 'timeout'
  /** The result does not conform to the specification. The message names the path. */
  | 'invalid_result'
  /** The server asks for input of a kind that this client has not declared, or that no handler answers. */
  | 'input_required'
  /**
   * An answer to the server's question does not match the question, so it was not sent. The message names key and path.
   */
  | 'invalid_answer'
  /** The value to resume is not a pending call, so nothing was sent. */
  | 'invalid_pending'
  /** The server asked for input more often than one call may be asked. */
  | 'too_many_rounds'
  /** An argument cannot be written into the header that the tool requires, so nothing was sent. */
  | 'invalid_arguments'
  /** The structured result does not match the tool's output schema. */
  | 'invalid_output'
  /** The tool's output schema cannot be used, so nothing was sent. */
  | 'schema_refused'
  /** A list does not end: the server gave one cursor twice, or the list has too many pages or characters. */
  | 'endless_list'

/** The call that an error belongs to. */
export interface CallErrorContext {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly target?: string | undefined
  /** The name that the server gives itself, and its address. */
  readonly server?: string | undefined
}

/** A call that failed. Its message names the call, the server and the reason. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  readonly method: string
  readonly target: string | undefined
  readonly server: string | undefined
  /** The JSON-RPC error of the server, which is untrusted. Undefined for every failure on the side of the client. */
  readonly rpc: WireError | undefined

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
  }
}

/** Captures a stack where the engine has this function, which the types of browsers omit. */
const captureStackTrace: unknown = Reflect.get(Error, 'captureStackTrace')

/**
 * Replaces the stack of a failure by the current one, which names the async callers. The failure was created in a
 * callback of a transport or a timer, whose stack names none of them. Returns the failure.
 */
export function withCallerStack(error: unknown): unknown {
  if (error instanceof ClientError && typeof captureStackTrace === 'function') captureStackTrace(error, withCallerStack)
  return error
}

// Stored beside the error, not in it: printing the error must not print content of the server.
const unknownTypeResults = new WeakMap<ClientError, JsonObject>()

/** Attaches to a failure the result of an unknown type that caused it. */
export function attachUnknownResult(error: ClientError, result: JsonObject): ClientError {
  unknownTypeResults.set(error, result)
  return error
}

/**
 * Returns the untrusted result of an unknown type that made a call fail, for an extension that knows the type. Returns
 * undefined for every other failure.
 */
export function unknownTypeResultOf(error: unknown): JsonObject | undefined {
  return error instanceof ClientError ? unknownTypeResults.get(error) : undefined
}

/** Returns true for a {@link ClientError}, from this copy of the package or another. */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError' && 'method' in error && 'code' in error
}

/**
 * Returns true if the server says that a resource does not exist, in the form of this revision or of earlier ones
 * (server/resources, error handling).
 */
export function isResourceNotFound(error: unknown): boolean {
  if (!isClientError(error) || error.rpc === undefined) return false
  const { code, data } = error.rpc
  return code === legacyResourceNotFound || (code === errorCodes.invalidParams && isJsonObject(data) && 'uri' in data)
}

/**
 * Returns the path and reason of a failed check. `wholeValueName` replaces an empty path, which means the value as a
 * whole.
 */
export function describeCheckFailure({ path, expected, got }: Failure, wholeValueName = ''): string {
  const valueName = toPrintableName(path.replace(/^\./, '')) || wholeValueName
  const reason = `expected ${expected}, got ${got}`
  return valueName === '' ? reason : `${valueName}: ${reason}`
}

/** Returns a key of the server in the form in which error messages quote it. */
export function toPrintableKey(key: string): string {
  return JSON.stringify(toPrintableName(key))
}

function toPrintableName(name: string): string {
  return name.slice(0, 128).replaceAll(/\p{C}/gu, ' ')
}
