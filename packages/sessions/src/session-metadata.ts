import { isJsonObject, type JsonObject } from '@x/schema'

/** The `_meta` key under which requests and results name their session. */
export const sessionKey = 'io.modelcontextprotocol/session'

/** The error code of a session that the server does not know, or knows no longer (seed data-layer-sessions, errors). */
export const sessionNotFound = -32043

/** The HTTP header that repeats the session's id. */
export const sessionHeader = 'Mcp-Session-Id'

/** The methods of the extension. */
export const sessionMethods = { create: 'sessions/create', delete: 'sessions/delete' } as const

/** What stands in `_meta` under {@link sessionKey} (seed data-layer-sessions, SessionMetadata). */
export type SessionMetadata = {
  /** The session's id: visible ASCII. */
  readonly sessionId: string
  /** When the session ends, in ISO 8601; a hint for people. */
  readonly expiresAt?: string | undefined
  /** What the server gave the client to keep; the client sends it as it came. */
  readonly state?: string | undefined
}

/** The longest id that is looked at, in characters: it has to fit into a header. */
export const maxSessionId = 2048

/** The longest state that is looked at, in characters. */
export const maxState = 262_144

const visibleAscii = /^[\x21-\x7e]+$/
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** The session that a request or a result names: its metadata, what is wrong with it, or undefined for no session. */
export function sessionIn(holder: JsonObject | undefined): SessionMetadata | { readonly issue: string } | undefined {
  const meta = holder?._meta
  if (!isJsonObject(meta) || !Object.hasOwn(meta, sessionKey)) return undefined
  return parseSessionMetadata(meta[sessionKey])
}

/** Session metadata as a peer sent it; members that are not known are left out. */
export function parseSessionMetadata(value: unknown): SessionMetadata | { readonly issue: string } {
  if (!isJsonObject(value)) return { issue: 'must be an object with a sessionId' }
  const [sessionId, expiresAt, state] = ['sessionId', 'expiresAt', 'state'].map((name) =>
    Object.hasOwn(value, name) ? value[name] : undefined,
  )
  if (!isSessionId(sessionId)) {
    return { issue: `must have a sessionId of 1 to ${maxSessionId} visible ASCII characters` }
  }
  if (!isAbsentOr(state, isState)) {
    return { issue: `must have a state that is a string of at most ${maxState} characters, or none` }
  }
  if (!isAbsentOr(expiresAt, isDateTime)) {
    return { issue: 'must have an expiresAt in ISO 8601, such as 2026-03-01T00:00:00Z, or none' }
  }
  return { sessionId, ...(expiresAt !== undefined && { expiresAt }), ...(state !== undefined && { state }) }
}

function isAbsentOr<T>(value: unknown, is: (value: unknown) => value is T): value is T | undefined {
  return value === undefined || is(value)
}

function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxSessionId && visibleAscii.test(value)
}

function isState(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxState
}

function isDateTime(value: unknown): value is string {
  return typeof value === 'string' && dateTime.test(value) && Number.isFinite(Date.parse(value))
}
