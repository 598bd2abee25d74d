import { errorCodes, isJsonObject, type JsonObject, legacyResourceNotFound, type WireError } from '@x/schema'

/** Why a call failed; the closed table of {@link ClientError}. Only `rpc` and `unsupported_version` come from the peer. */
export type ClientErrorCode =
  /** The server answered with an error: see `rpc`. */
  | 'rpc'
  /** The server serves no revision of the protocol that this client speaks. */
  | 'unsupported_version'
  /** No answer could be had: the cause is the transport's own error. */
  | 'transport'
  /** No answer came in time, and the call was cancelled. */
  | 'timeout'
  /** The result is not what the specification says; the message names the path. */
  | 'invalid_result'
  /** The server wants input before it goes on, of a kind that this client has not declared or has nobody to give. */
  | 'input_required'
  /** An answer to the server's question is not what was asked for, so it was not sent; the message names key and path. */
  | 'invalid_answer'
  /** What was to be resumed is no pending call, so nothing was sent. */
  | 'invalid_pending'
  /** The server asked for input more often than one call may be asked. */
  | 'too_many_rounds'
  /** Arguments cannot go into the headers that the tool wants them in, so nothing was sent. */
  | 'invalid_arguments'
  /** The structured result does not match the tool's output schema. */
  | 'invalid_output'
  /** The tool's output schema cannot be used, so nothing was sent. */
  | 'schema_refused'
  /** A list that does not end: a cursor came back, or there are too many pages. */
  | 'endless_list'

/** Which call an error belongs to. */
export interface CallPlace {
  readonly method: string
  /** The tool, prompt or resource. */
  readonly target?: string | undefined
  /** The server, as it calls itself, and where it is. */
  readonly server?: string | undefined
}

/** A call that failed. Its message says which call, on which server, and why. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  readonly method: string
  readonly target: string | undefined
  readonly server: string | undefined
  /** What the peer said, untrusted; absent for every failure on this side. */
  readonly rpc: WireError | undefined

  constructor(
    code: ClientErrorCode,
    why: string,
    {
      method,
      target,
      server,
      rpc,
      cause,
    }: CallPlace & { readonly rpc?: WireError | undefined; readonly cause?: unknown },
  ) {
    const what = target === undefined ? method : `${method} ${JSON.stringify(target)}`
    super(`${what}${server === undefined ? '' : ` on ${server}`}: ${why}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.method = method
    this.target = target
    this.server = server
    this.rpc = rpc
  }
}

// Kept beside the error, not in it: whoever prints an error must not print what came from the server.
const otherResults = new WeakMap<ClientError, JsonObject>()

/** Notes the result that a call failed for, because this client does not know its type. */
export function noteOtherResult(error: ClientError, result: JsonObject): ClientError {
  otherResults.set(error, result)
  return error
}

/**
 * The result of a type that a call rejected for because its client does not know it, untrusted: for an extension that does. Undefined for
 * whatever else failed.
 */
export function otherResultOf(error: unknown): JsonObject | undefined {
  return error instanceof ClientError ? otherResults.get(error) : undefined
}

/** Whether a value is a {@link ClientError}, from this copy of the package or another. */
export function isClientError(error: unknown): error is ClientError {
  return error instanceof Error && error.name === 'ClientError' && 'method' in error && 'code' in error
}

/**
 * Whether the server says that a resource does not exist, in the words of this revision or of earlier ones
 * (server/resources, error handling).
 */
export function isResourceNotFound(error: unknown): boolean {
  if (!isClientError(error) || error.rpc === undefined) return false
  const { code, data } = error.rpc
  return code === legacyResourceNotFound || (code === errorCodes.invalidParams && isJsonObject(data) && 'uri' in data)
}
