import { type ExtensionView, type JsonValue, type Principal, principalIdentity } from '@x/schema'
import { isStateError } from '@x/state-codec'
import { sessionKey, type SessionMetadata } from '../session-metadata.ts'
import { SessionNotFound } from './refusal.ts'
import type { SessionRules } from './session-rules.ts'

/** Who asks for what. */
export interface SessionRequest {
  readonly method: string
  readonly principal: Principal | undefined
  readonly rules: SessionRules
}

/** A session as one request has it. */
export interface OpenedSession extends SessionRequest {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Undefined while the state is the initial one. */
  readonly value: JsonValue | undefined
  /** How often the state was replaced. */
  readonly revision: number
  /** The run of the handler that counts, which is the last one. */
  run: SessionRun | undefined
  /** False once the request has been answered: nothing is kept of the session then. */
  open: boolean
  /** The store's key for this call's claim to the next revision. */
  claim: string | undefined
}

/** What one run of a handler does to the session. */
export interface SessionRun {
  readonly session: OpenedSession
  draft: { readonly value: JsonValue } | undefined
}

const runs = new WeakMap<object, SessionRun>()

/** Begins a run of the handler; what earlier runs did is left behind. */
export function beginRun(session: OpenedSession): SessionRun {
  const run: SessionRun = { session, draft: undefined }
  session.run = run
  runs.set(run, run)
  return run
}

/** The run whose context or request this is the view of, if it is of a session of these rules. */
export function runIn(view: ExtensionView, rules: SessionRules): SessionRun | undefined {
  const given = view.extension(sessionKey)
  const run = typeof given === 'object' && given !== null ? runs.get(given) : undefined
  return run?.session.rules === rules ? run : undefined
}

/** What tokens are for; keys of other purposes do not open them. */
const purposes = { id: 'session', state: 'session-state' }

/** Makes an id: who made it, for whom, and until when is sealed in it. */
export async function sealId(request: SessionRequest): Promise<OpenedSession> {
  const { rules, principal } = request
  const createdAt = rules.now()
  const expiresAt = createdAt + rules.ttlMs
  const id = await rules.codec.seal([createdAt, expiresAt, rules.randomUuid()], {
    purpose: purposes.id,
    // A session is one caller's alone; without authentication it is whoever has the id.
    binding: principalIdentity(principal),
    ttlMs: rules.ttlMs,
  })
  return { ...request, id, createdAt, expiresAt, ...beginning, run: undefined, open: true, claim: undefined }
}

/**
 * Opens the session that a request names, before anything of it is believed: the id must be one of ours and this caller's, and the
 * state one of that id. Throws {@link SessionNotFound} whatever is wrong, so that a forger learns nothing; the reason goes to the author.
 */
export async function openSession(
  { sessionId: id, state }: SessionMetadata,
  request: SessionRequest,
): Promise<OpenedSession> {
  const { rules, principal } = request
  try {
    const [createdAt, expiresAt] = timesIn(
      await rules.codec.open(id, { purpose: purposes.id, binding: principalIdentity(principal) }),
    )
    if (!(rules.now() < expiresAt)) throw new Error('The session has expired')
    if (!(await rules.ledger.isLive(id))) throw new Error('The session was deleted or revoked')
    const content = state === undefined ? beginning : await openState(id, state, request)
    return { ...request, id, createdAt, expiresAt, ...content, run: undefined, open: true, claim: undefined }
  } catch (cause) {
    // A store that cannot be reached says nothing of the session: the client may try again.
    if (isStateError(cause) && cause.code === 'unavailable') throw cause
    throw new SessionNotFound(id, { cause })
  }
}

/** Seals a state for the way through the client, for as long as its session lives. */
export function sealState(session: OpenedSession, value: JsonValue, revision: number): Promise<string> {
  const { id, principal, createdAt, expiresAt, rules } = session
  return rules.stateCodec.seal([revision, value], {
    purpose: purposes.state,
    binding: [id, principalIdentity(principal)],
    since: createdAt,
    ttlMs: Math.max(1, expiresAt - rules.now()),
  })
}

const beginning = { value: undefined, revision: 0 }

async function openState(
  id: string,
  token: string,
  { principal, rules }: SessionRequest,
): Promise<Pick<OpenedSession, 'value' | 'revision'>> {
  const binding = [id, principalIdentity(principal)]
  const content = await rules.stateCodec.open(token, { purpose: purposes.state, binding })
  const [revision, value] = Array.isArray(content) ? content : []
  if (typeof revision !== 'number' || value === undefined)
    throw new Error('The state has a form that is not known here')
  return { value, revision }
}

function timesIn(content: JsonValue): [createdAt: number, expiresAt: number] {
  const [createdAt, expiresAt] = Array.isArray(content) ? content : []
  if (typeof createdAt === 'number' && typeof expiresAt === 'number') return [createdAt, expiresAt]
  throw new Error('The id has a form that is not known here')
}
