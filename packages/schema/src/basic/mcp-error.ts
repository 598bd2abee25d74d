import { type Failure, prefixFailurePath } from './failure.ts'
import type { JsonValue } from '@x/core'
import type { RequestId, RpcError, WireError } from './rpc.ts'

/**
 * Sent to the peer with its code, message and data.
 *
 * Throw it in a handler to answer with a protocol error. `code` is one of {@link errorCodes}; for errors of its own, an
 * application takes a number outside -32768 to -32000. A handler's error with another code from -32099 to -32000 is
 * logged, and sent as -32603 without details.
 */
export class McpError extends Error {
  override readonly name = 'McpError'
  readonly code: number
  readonly data: JsonValue | undefined

  constructor(code: ErrorCode | (number & {}), message: string, options: { data?: JsonValue; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.data = options.data
  }
}

/** True for an {@link McpError}, also one of another copy of this package. */
export function isMcpError(error: unknown): error is McpError {
  return error instanceof Error && error.name === 'McpError' && 'code' in error && typeof error.code === 'number'
}

/**
 * An {@link McpError} keeps its code, message and data on the wire. Any other error becomes an internal one without
 * details.
 */
export function toWire(error: unknown): WireError {
  if (!isMcpError(error)) return { code: errorCodes.internal, message: 'Internal error' }
  const { code, message, data } = error
  return data === undefined ? { code, message } : { code, message, data }
}

/** Answers with an error. It has no id if that of the request could not be read. */
export function errorResponse(id: RequestId | undefined, error: unknown): RpcError {
  return id === undefined ? { jsonrpc: '2.0', error: toWire(error) } : { jsonrpc: '2.0', id, error: toWire(error) }
}

/**
 * Every error code of this revision (basic/index, error codes). Codes of earlier revisions are absent, because they
 * must not be sent. Of these, only {@link legacyResourceNotFound} is accepted, from servers of earlier revisions.
 */
export const errorCodes = {
  /** The body is not JSON, or exceeds a limit of the parser. */
  parse: -32700,
  /** The JSON is not a request. */
  invalidRequest: -32600,
  /** The method does not exist. */
  methodNotFound: -32601,
  /** The parameters are malformed, or name something that does not exist. */
  invalidParams: -32602,
  /** The receiver of the request failed. */
  internal: -32603,
  /** The HTTP headers differ from the body. */
  headerMismatch: -32020,
  /** The request needs a capability that the client did not declare. `data.requiredCapabilities` names it. */
  missingRequiredClientCapability: -32021,
  /** The revision of the request is not supported. `data.supported` lists the supported revisions. */
  unsupportedProtocolVersion: -32022,
} as const

/** One of the codes in {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes]

/** Servers of revision 2025-11-25 and earlier answer so for an unknown resource. Accepted, and never sent. */
export const legacyResourceNotFound = -32002

/** For params that a check rejected. `key` is the member that was checked. */
export function invalidParamsError(failure: Failure, key?: string): McpError {
  const { path, expected, got } = key === undefined ? failure : prefixFailurePath(failure, key)
  return new McpError(errorCodes.invalidParams, `params${path} must be ${expected}, got ${got}`)
}
