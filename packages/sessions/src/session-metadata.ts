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

/** Key of the session in `_meta` of requests and results. */
export const sessionKey = 'io.modelcontextprotocol/session'

/** The server does not know the session, or no longer (seed data-layer-sessions, errors). */
export const sessionNotFoundCode = -32043

/** HTTP header that repeats the session's id. */
export const sessionHeader = 'Mcp-Session-Id'

/** Methods of the extension. */
export const sessionMethods = { create: 'sessions/create', delete: 'sessions/delete' } as const

export const sessionsIdentifier = 'io.modelcontextprotocol/sessions'

/** What `_meta` has under {@link sessionKey} (seed data-layer-sessions, SessionMetadata). */
export type SessionMetadata = {
  /** Id of the session: visible ASCII. */
  readonly sessionId: string
  /** When the session ends, in ISO 8601, for display. */
  readonly expiresAt?: string | undefined
  /** State of the session, sealed by the server. The client returns it unchanged. */
  readonly state?: string | undefined
}

/** Creates a session, and so contains none (seed data-layer-sessions, schema). */
export interface CreateSessionRequest extends RpcRequest {
  readonly method: 'sessions/create'
}

/** Answers a {@link CreateSessionRequest}. */
export interface CreateSessionResult extends Result {
  readonly session: SessionMetadata
}

/** Answers a {@link CreateSessionRequest} that succeeded. */
export interface CreateSessionResultResponse extends Omit<RpcResult, 'result'> {
  readonly result: CreateSessionResult
}

/** Deletes the session in its `_meta`. */
export interface DeleteSessionRequest extends RpcRequest {
  readonly method: 'sessions/delete'
}

/** Answers a {@link DeleteSessionRequest} that succeeded. */
export interface DeleteSessionResultResponse extends Omit<RpcResult, 'result'> {
  readonly result: EmptyResult
}

/** Answers a request whose session the server does not know (seed data-layer-sessions, errors). */
export interface SessionNotFoundError extends Omit<RpcError, 'error'> {
  readonly error: WireError & {
    readonly code: typeof sessionNotFoundCode
    readonly data: JsonObject & { readonly sessionId: string }
  }
}

/** An id must fit into a header. */
export const maxSessionIdLength = 2048

export const maxStateLength = 262_144

const visibleAsciiPattern = /^[\x21-\x7e]+$/
const dateTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** A text is what is wrong with the session. Undefined if there is none. */
export function readSessionMetadata(
  paramsOrResult: JsonObject | undefined,
): SessionMetadata | { readonly issue: string } | undefined {
  const meta = paramsOrResult?._meta
  if (!isJsonObject(meta) || !Object.hasOwn(meta, sessionKey)) return undefined
  return parseSessionMetadata(meta[sessionKey])
}

/** Parses what a peer sent. Unknown members are left out. */
export function parseSessionMetadata(value: unknown): SessionMetadata | { readonly issue: string } {
  if (!isJsonObject(value)) return { issue: 'must be an object with a sessionId' }
  const [sessionId, expiresAt, state] = ['sessionId', 'expiresAt', 'state'].map((name) =>
    Object.hasOwn(value, name) ? value[name] : undefined,
  )
  if (!isSessionId(sessionId)) {
    return { issue: `must have a sessionId of 1 to ${maxSessionIdLength} visible ASCII characters` }
  }
  if (!isAbsentOr(state, isStateText)) {
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

function isStateText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxStateLength
}

function isDateTime(value: unknown): value is string {
  return typeof value === 'string' && dateTimePattern.test(value) && Number.isFinite(Date.parse(value))
}
