import { type ClientCapabilities, clientCapabilities } from '../basic/capabilities.ts'
import { jsonrpc, requestId, type RpcError, type WireError } from '../basic/rpc.ts'
import {
  describeObject,
  type Description,
  jsonValue,
  list,
  looseShape,
  optional,
  type Shape,
  string,
  literal,
} from '../basic/shape.ts'

/** The message is not JSON (basic/index, error codes). */
export type ParseError = WireError & { readonly code: -32700 }

export const parseError = errorShape<ParseError>(-32700)

/** The JSON is not a request (basic/index, error codes). */
export type InvalidRequestError = WireError & { readonly code: -32600 }

export const invalidRequestError = errorShape<InvalidRequestError>(-32600)

/**
 * The server has no such method, or did not advertise the capability that the method needs (basic/index, error codes).
 */
export type MethodNotFoundError = WireError & { readonly code: -32601 }

export const methodNotFoundError = errorShape<MethodNotFoundError>(-32601)

/** The params are malformed, or name something that does not exist (basic/index, error codes). */
export type InvalidParamsError = WireError & { readonly code: -32602 }

export const invalidParamsError = errorShape<InvalidParamsError>(-32602)

/** The receiver of the request failed (basic/index, error codes). */
export type InternalError = WireError & { readonly code: -32603 }

export const internalError = errorShape<InternalError>(-32603)

/** The HTTP headers of a request differ from its body (basic/transports/streamable-http). */
export type HeaderMismatchError = RpcError & {
  readonly error: WireError & { readonly code: -32020 }
}

export const headerMismatchError = errorResponseShape<HeaderMismatchError>(-32020)

/** A request needs a capability that the client did not declare (basic/index, error codes). */
export type MissingRequiredClientCapabilityError = RpcError & {
  readonly error: WireError & {
    readonly code: -32021
    /** What is missing. */
    readonly data: { readonly requiredCapabilities: ClientCapabilities }
  }
}

export const missingRequiredClientCapabilityError = errorResponseShape<MissingRequiredClientCapabilityError>(
  -32021,
  looseShape<{ readonly requiredCapabilities: ClientCapabilities }>({ requiredCapabilities: clientCapabilities }),
)

/** The server does not support the revision of a request (basic/versioning). */
export type UnsupportedProtocolVersionError = RpcError & {
  readonly error: WireError & {
    readonly code: -32022
    /** The requested revision, and the supported ones. */
    readonly data: { readonly requested: string; readonly supported: readonly string[] }
  }
}

export const unsupportedProtocolVersionError = errorResponseShape<UnsupportedProtocolVersionError>(
  -32022,
  looseShape<{ readonly requested: string; readonly supported: readonly string[] }>({
    requested: string,
    supported: list(string),
  }),
)

function errorResponseShape<R extends RpcError>(code: R['error']['code'], data?: Description): Shape<R> {
  return describeObject({ jsonrpc, id: optional(requestId), error: errorShape(code, data) })
}

function errorShape<E extends WireError>(code: E['code'], data: Description = optional(jsonValue)): Shape<E> {
  return describeObject({ code: literal(code), message: string, data })
}
