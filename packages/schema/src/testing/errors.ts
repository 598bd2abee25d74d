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

/** The shape of {@link ParseError}. */
export const parseError = errorShape<ParseError>(-32700)

/** The JSON is not a request (basic/index, error codes). */
export type InvalidRequestError = WireError & { readonly code: -32600 }

/** The shape of {@link InvalidRequestError}. */
export const invalidRequestError = errorShape<InvalidRequestError>(-32600)

/**
 * The server has no such method, or did not advertise the capability that the method needs (basic/index, error codes).
 */
export type MethodNotFoundError = WireError & { readonly code: -32601 }

/** The shape of {@link MethodNotFoundError}. */
export const methodNotFoundError = errorShape<MethodNotFoundError>(-32601)

/** The params are malformed, or name something that does not exist (basic/index, error codes). */
export type InvalidParamsError = WireError & { readonly code: -32602 }

/** The shape of {@link InvalidParamsError}. */
export const invalidParamsError = errorShape<InvalidParamsError>(-32602)

/** The receiver of the request failed (basic/index, error codes). */
export type InternalError = WireError & { readonly code: -32603 }

/** The shape of {@link InternalError}. */
export const internalError = errorShape<InternalError>(-32603)

/** The error for a request whose HTTP headers differ from its body (basic/transports/streamable-http). */
export type HeaderMismatchError = RpcError & {
  readonly error: WireError & { readonly code: -32020 }
}

/** The shape of {@link HeaderMismatchError}. */
export const headerMismatchError = errorResponseShape<HeaderMismatchError>(-32020)

/** The error for a request that needs a capability which the client did not declare (basic/index, error codes). */
export type MissingRequiredClientCapabilityError = RpcError & {
  readonly error: WireError & {
    readonly code: -32021
    /** The missing capabilities. */
    readonly data: { readonly requiredCapabilities: ClientCapabilities }
  }
}

/** The shape of {@link MissingRequiredClientCapabilityError}. */
export const missingRequiredClientCapabilityError = errorResponseShape<MissingRequiredClientCapabilityError>(
  -32021,
  looseShape<{ readonly requiredCapabilities: ClientCapabilities }>({ requiredCapabilities: clientCapabilities }),
)

/** The error for a request in a revision that the server does not support (basic/versioning). */
export type UnsupportedProtocolVersionError = RpcError & {
  readonly error: WireError & {
    readonly code: -32022
    /** The requested revision, and the supported ones. */
    readonly data: { readonly requested: string; readonly supported: readonly string[] }
  }
}

/** The shape of {@link UnsupportedProtocolVersionError}. */
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
