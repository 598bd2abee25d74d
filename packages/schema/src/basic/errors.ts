import type { ClientCapabilities } from './capabilities.ts'
import type { RpcError, WireError } from './rpc.ts'

/** The message is not JSON (basic/index, error codes). */
export type ParseError = WireError & { readonly code: -32700 }

/** The JSON is not a request (basic/index, error codes). */
export type InvalidRequestError = WireError & { readonly code: -32600 }

/** The server has no such method, or did not advertise the capability that it belongs to (basic/index, error codes). */
export type MethodNotFoundError = WireError & { readonly code: -32601 }

/** The params are malformed, or name something that does not exist (basic/index, error codes). */
export type InvalidParamsError = WireError & { readonly code: -32602 }

/** The receiver failed (basic/index, error codes). */
export type InternalError = WireError & { readonly code: -32603 }

/** The error for a request whose HTTP headers do not repeat its body (basic/transports/streamable-http). */
export type HeaderMismatchError = RpcError & {
  readonly error: WireError & { readonly code: -32020 }
}

/** The error for a request that needs a capability which the client did not declare (basic/index, error codes). */
export type MissingRequiredClientCapabilityError = RpcError & {
  readonly error: WireError & {
    readonly code: -32021
    /** The missing capabilities. */
    readonly data: { readonly requiredCapabilities: ClientCapabilities }
  }
}

/** The error for a request in a revision that the server does not support (basic/versioning). */
export type UnsupportedProtocolVersionError = RpcError & {
  readonly error: WireError & {
    readonly code: -32022
    /** The requested revision, and the supported ones. */
    readonly data: { readonly requested: string; readonly supported: readonly string[] }
  }
}
