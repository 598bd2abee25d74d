import { type ErrorCode, errorCodes } from './error-codes.ts'
import type { JsonValue } from './json.ts'
import type { RequestId, RpcError, WireError } from './rpc.ts'

/**
 * An error that is sent to the peer with its code, message and data.
 *
 * Throw it in a handler to answer with a protocol error. `code` is one of {@link errorCodes}, or a number outside
 * -32768 to -32000 for an application's own.
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

/** Tells if a value is a {@link McpError}, from this copy of the package or another. */
export function isMcpError(error: unknown): error is McpError {
  return error instanceof Error && error.name === 'McpError' && 'code' in error && typeof error.code === 'number'
}

/**
 * Converts an error to its wire form: a {@link McpError} in full, any other error as an internal error without details.
 */
export function toWire(error: unknown): WireError {
  if (!isMcpError(error)) return { code: errorCodes.internal, message: 'Internal error' }
  const { code, message, data } = error
  return data === undefined ? { code, message } : { code, message, data }
}

/** Creates the response that reports an error; without an id when the request's id could not be read. */
export function errorResponse(id: RequestId | undefined, error: unknown): RpcError {
  return id === undefined ? { jsonrpc: '2.0', error: toWire(error) } : { jsonrpc: '2.0', id, error: toWire(error) }
}
