import {
  type EmptyResult,
  isJsonObject,
  type JsonObject,
  type Result,
  type RpcError,
  type RpcRequest,
  type RpcResult,
  type WireError,
} from '@x/schema'

/** The `_meta` key of the session in requests and results. */
export const sessionKey = 'io.modelcontextprotocol/session'

/** The error code of a session that the server does not know or no longer knows (seed data-layer-sessions, errors). */
export const sessionNotFoundCode = -32043

/** The HTTP header that repeats the session's id. */
export const sessionHeader = 'Mcp-Session-Id'

/** The methods of the extension. */
export const sessionMethods = { create: 'sessions/create', delete: 'sessions/delete' } as const

/** The identifier of the extension. */
export const sessionsIdentifier = 'io.modelcontextprotocol/sessions'

/** The value in `_meta` under {@link sessionKey} (seed data-layer-sessions, SessionMetadata). */
export type SessionMetadata = {
  /** The session's id: visible ASCII. */
  readonly sessionId: string
  /** The end of the session in ISO 8601, for display. */
  readonly expiresAt?: string | undefined
  /** The state of the session, sealed by the server. The client returns it unchanged. */
  readonly state?: string | undefined
}

/** A `sessions/create` request, which contains no session (seed data-layer-sessions, schema). */
export interface CreateSessionRequest extends RpcRequest {
  readonly method: 'sessions/create'
}

/** The result of a {@link CreateSessionRequest}. */
export interface CreateSessionResult extends Result {
  readonly session: SessionMetadata
}

/** The response to a {@link CreateSessionRequest} that succeeded. */
export interface CreateSessionResultResponse extends Omit<RpcResult, 'result'> {
  readonly result: CreateSessionResult
}

/** A `sessions/delete` request. Its `_meta` contains the session. */
export interface DeleteSessionRequest extends RpcRequest {
  readonly method: 'sessions/delete'
}

/** The response to a {@link DeleteSessionRequest} that succeeded. */
export interface DeleteSessionResultResponse extends Omit<RpcResult, 'result'> {
  readonly result: EmptyResult
}

/** The response to a request whose session the server does not know (seed data-layer-sessions, errors). */
export interface SessionNotFoundError extends Omit<RpcError, 'error'> {
  readonly error: WireError & {
    readonly code: typeof sessionNotFoundCode
    readonly data: JsonObject & { readonly sessionId: string }
  }
}

/** The maximum length of an id, in characters. The id has to fit into a header. */
export const maxSessionIdLength = 2048

/** The maximum length of a state, in characters. */
export const maxStateLength = 262_144

const visibleAsciiPattern = /^[\x21-\x7e]+$/
const dateTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Returns the session metadata of a request or a result, or the issue with it. Returns undefined if there is no
 * session.
 */
export function readSessionMetadata(
  paramsOrResult: JsonObject | undefined,
): SessionMetadata | { readonly issue: string } | undefined {
  const meta = paramsOrResult?._meta
  if (!isJsonObject(meta) || !Object.hasOwn(meta, sessionKey)) return undefined
  return parseSessionMetadata(meta[sessionKey])
}

/** Parses session metadata from a peer. Unknown members are omitted. */
export function parseSessionMetadata(value: unknown): SessionMetadata | { readonly issue: string } {
  if (!isJsonObject(value)) return { issue: 'must be an object with a sessionId' }
  const [sessionId, expiresAt, state] = ['sessionId', 'expiresAt', 'state'].map((name) =>
    Object.hasOwn(value, name) ? value[name] : undefined,
  )
  if (!isSessionId(sessionId)) {
    return { issue: `must have a sessionId of 1 to ${maxSessionIdLength} visible ASCII characters` }
  }
  if (!isAbsentOr(state, isState)) {
    return { issue: `must have a state that is a string of at most ${maxStateLength} characters, or none` }
  }
  if (!isAbsentOr(expiresAt, isDateTime)) {
    return { issue: 'must have an expiresAt in ISO 8601, such as 2026-03-01T00:00:00Z, or none' }
  }
  return { sessionId, ...(expiresAt !== undefined && { expiresAt }), ...(state !== undefined && { state }) }
}

function isAbsentOr<T>(value: unknown, hasType: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || hasType(value)
}

function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxSessionIdLength && visibleAsciiPattern.test(value)
}

function isState(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxStateLength
}

function isDateTime(value: unknown): value is string {
  return typeof value === 'string' && dateTimePattern.test(value) && Number.isFinite(Date.parse(value))
}
