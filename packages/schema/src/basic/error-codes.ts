/**
 * Every error code of this revision (basic/index, error codes). Codes of earlier revisions are absent, because they
 * must not be sent; {@link legacyResourceNotFound} is accepted from old servers.
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
  /** The receiver failed. */
  internal: -32603,
  /** The HTTP headers do not repeat the body. */
  headerMismatch: -32020,
  /** The request needs a capability that the client did not declare; `data.requiredCapabilities` names it. */
  missingRequiredClientCapability: -32021,
  /** The request's revision is not supported; `data.supported` lists the supported ones. */
  unsupportedProtocolVersion: -32022,
} as const

/** One of the codes in {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes]

/** The code of servers of 2025-11-25 and earlier for an unknown resource; accepted, never sent. */
export const legacyResourceNotFound = -32002
