/**
 * Every error code that this revision defines (basic/index, error codes). Codes of earlier revisions are not here,
 * because they must not be sent; {@link legacyResourceNotFound} is known for what old servers answer.
 */
export const errorCodes = {
  /** The body is not JSON, or breaks a bound of the parser. */
  parse: -32700,
  /** The JSON is not a request. */
  invalidRequest: -32600,
  /** No such method here. */
  methodNotFound: -32601,
  /** The parameters are malformed, or name something that does not exist. */
  invalidParams: -32602,
  /** The receiver failed. */
  internal: -32603,
  /** The HTTP headers do not repeat the body. */
  headerMismatch: -32020,
  /** The request needs a capability that the client did not declare; `data.requiredCapabilities` names it. */
  missingRequiredClientCapability: -32021,
  /** The request's revision is not served here; `data.supported` lists those that are. */
  unsupportedProtocolVersion: -32022,
} as const

/** One of the codes in {@link errorCodes}. */
export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes]

/** What servers of 2025-11-25 and earlier answer for an unknown resource; accepted, never sent. */
export const legacyResourceNotFound = -32002
