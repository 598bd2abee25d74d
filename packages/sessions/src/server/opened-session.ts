import { errorRecord } from '@x/core'
import {
  type CallContext,
  contextKey,
  type ContextKey,
  type JsonObject,
  type JsonValue,
  type Principal,
} from '@x/schema'
import { principalIdentityOf, type RecordedPart, restoredPartsKey } from '@x/schema/internal'
import { isStateError } from '@x/state-codec'
import type { SessionMetadata } from '../session-metadata.ts'
import { isTransient, MissingSessionError } from './session-errors.ts'
import { type ResolvedSessionOptions, type SessionDefinition, sessionPurposes } from './resolved-session-options.ts'

/** A request that creates or deletes a session, or that names one. */
export interface SessionRequest {
  readonly method: string
  /** Reports an error that the client does not see. */
  readonly report: (error: unknown) => void
  readonly principal: Principal | undefined
  /** The key by which quotas count the caller. */
  readonly callerKey: string
  readonly sessionOptions: ResolvedSessionOptions
}

/** A session as one request named it. */
export interface OpenedSession extends SessionRequest {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** The state, undefined where handlers keep none, and where a deletion names the session by its id alone. */
  readonly state: JsonValue | undefined
  /** The token that the state was opened from. */
  readonly stateToken: string | undefined
  /** The number of times that the state was replaced. */
  readonly revision: number
  /** The runs of the handler in their order. The state of the last one is kept. */
  readonly runs: SessionRun[]
  /** False once the request has been answered: later changes are rejected. */
  isOpen: boolean
  /** The store's key for this call's claim to the next revision. */
  claimKey: string | undefined
  /** The session as `visibleTo` sees it. */
  sessionView: object | undefined
  /** True in a run of a task. The session is then that of the task's creation. */
  readonly isRecorded?: boolean
}

/** One run of a handler within a session, and the state that it has set. */
export interface SessionRun {
  readonly session: OpenedSession
  /** The handler's context, or a copy of it. */
  readonly ctx: CallView
  draft: { readonly value: JsonValue } | undefined
  /**
   * The session as the handler sees it. It is a member here, because a `WeakMap` that lives long keeps its new keys
   * until the next full collection of garbage.
   */
  handlerSession: object | undefined
}

/** A handler's context, or the view of a call that `visibleTo` gets. */
export interface CallView {
  readonly context: CallContext
  /**
   * In a handler's context the signal of the run, which distinguishes the runs of one call, also in copies of the
   * context.
   */
  readonly signal?: AbortSignal | undefined
}

/** The context key of the session that a request names. */
export const openedSessionKey: ContextKey<OpenedSession> = contextKey('x/session')

/** The name under which a session is recorded for a task. */
export const recordedPartName = 'session'

/** The options of each definition at the server that began last. Sessions of tasks are restored with them. */
const startedOptions = new WeakMap<SessionDefinition, ResolvedSessionOptions>()

/** Records that a server has begun to serve the sessions of a definition. */
export function recordStart(definition: SessionDefinition, sessionOptions: ResolvedSessionOptions): void {
  startedOptions.set(definition, sessionOptions)
}

/** Returns the session of a call that belongs to a definition, or the session that was recorded for a task. */
export function findOpenedSession({ context }: CallView, definition: SessionDefinition): OpenedSession | undefined {
  const session = context.get(openedSessionKey)
  if (session !== undefined) return session.sessionOptions.definition === definition ? session : undefined
  const recordedPart = context.get(restoredPartsKey)?.[recordedPartName]
  const sessionOptions = startedOptions.get(definition)
  return recordedPart && sessionOptions && restoreSession(recordedPart, sessionOptions)
}

/** Returns the part of a session that a task needs. The id is secret, because it works like a credential. */
export function recordSession(session: OpenedSession): RecordedPart {
  const { id, createdAt, expiresAt, revision } = session
  const value = findLastDraft(session)?.value ?? session.state
  return { value: { createdAt, expiresAt, revision, ...(value !== undefined && { value }) }, secret: { id } }
}

const restoredSessions = new WeakMap<JsonObject, OpenedSession>()

// `recordSession` of this or another version of the package wrote the record.
function restoreSession(recordedPart: JsonObject, sessionOptions: ResolvedSessionOptions): OpenedSession | undefined {
  const knownSession = restoredSessions.get(recordedPart)
  if (knownSession !== undefined) return knownSession
  const { id, createdAt, expiresAt, revision, value } = recordedPart
  if (typeof createdAt !== 'number' || typeof expiresAt !== 'number' || typeof revision !== 'number') return undefined
  const method = 'tools/call'
  const session: OpenedSession = {
    method,
    principal: undefined,
    callerKey: '',
    sessionOptions,
    createdAt,
    expiresAt,
    revision,
    state: value,
    report: (error) => sessionOptions.log(errorRecord(error, { method })),
    id: typeof id === 'string' ? id : '',
    stateToken: undefined,
    runs: [],
    isOpen: false,
    claimKey: undefined,
    sessionView: undefined,
    isRecorded: true,
  }
  restoredSessions.set(recordedPart, session)
  return session
}

/** Returns the run of a handler within a session. The first use begins it. */
export function getOrCreateRun(session: OpenedSession, ctx: CallView): SessionRun {
  // A signal is created when it is first read, which costs as much as a tenth of a call, so signals are compared last.
  const knownRun = session.runs.find((other) => other.ctx === ctx || other.ctx.signal === ctx.signal)
  if (knownRun !== undefined) return knownRun
  const run: SessionRun = { session, ctx, draft: undefined, handlerSession: undefined }
  session.runs.push(run)
  return run
}

/**
 * Returns the state that the last run has set. A run that was suspended is not the last: another one completed the
 * call.
 */
export function findLastDraft({ runs }: OpenedSession): SessionRun['draft'] {
  const lastRun = runs.at(-1)
  return lastRun?.draft === undefined || lastRun.ctx.signal?.aborted === true ? undefined : lastRun.draft
}

/** Creates a session. Its id has its times sealed in it, and is bound to the principal. */
export async function createOpenedSession(request: SessionRequest): Promise<OpenedSession> {
  const { sessionOptions, principal, callerKey } = request
  const createdAt = sessionOptions.now()
  const expiresAt = createdAt + sessionOptions.ttlMs
  const id = await sessionOptions.codec.seal([createdAt, expiresAt, sessionOptions.randomUuid()], {
    purpose: sessionPurposes.id,
    // A session belongs to one principal. Without authentication it belongs to every caller who has the id.
    binding: principalIdentityOf(principal),
    owner: callerKey,
    ttlMs: sessionOptions.ttlMs,
  })
  return createSessionOfRequest(request, { id, createdAt, expiresAt, ...initialState })
}

/**
 * Opens and verifies the session that a request names: the id must be sealed by this server for this principal, and the
 * state for that id. A request of a session with a state must bring one, unless it deletes the session. Throws {@link
 * MissingSessionError} for every failure, so that a forger cannot see the reason. Its cause is reported.
 */
export async function openSession(
  { sessionId, state }: SessionMetadata,
  request: SessionRequest & { readonly needsState: boolean },
): Promise<OpenedSession> {
  const { sessionOptions, principal, callerKey } = request
  try {
    const [createdAt, expiresAt] = parseSessionTimes(
      await sessionOptions.codec.open(sessionId, {
        purpose: sessionPurposes.id,
        binding: principalIdentityOf(principal),
        owner: callerKey,
        cacheContent: true,
      }),
    )
    if (!(sessionOptions.now() < expiresAt)) throw new Error('The session has expired')
    if (!(await sessionOptions.registry.isLive(sessionId))) throw new Error('The session was deleted or revoked')
    const content = state === undefined ? initialState : await openSessionState(sessionId, state, request)
    // Without this check, a request without the state would return the session to its first state.
    if (state === undefined && sessionOptions.hasState && request.needsState)
      throw new Error('The request has no state of its session')
    return createSessionOfRequest(request, { id: sessionId, createdAt, expiresAt, ...content })
  } catch (cause) {
    if (isRetryable(cause)) throw cause
    throw new MissingSessionError(sessionId, { cause })
  }
}

type SessionContent = Pick<OpenedSession, 'id' | 'createdAt' | 'expiresAt' | 'state' | 'stateToken' | 'revision'>

function createSessionOfRequest(request: SessionRequest, content: SessionContent): OpenedSession {
  const { method, report, principal, callerKey, sessionOptions } = request
  const { id, createdAt, expiresAt, state, stateToken, revision } = content
  return {
    method,
    report,
    principal,
    callerKey,
    sessionOptions,
    id,
    createdAt,
    expiresAt,
    state,
    stateToken,
    revision,
    runs: [],
    isOpen: true,
    claimKey: undefined,
    sessionView: undefined,
  }
}

/** Returns true for a temporary failure, and for a quota of the caller. Neither ends a session. */
function isRetryable(cause: unknown): boolean {
  return isTransient(cause) || (isStateError(cause) && cause.code === 'quota')
}

/** Seals a state that the client carries, until the end of its session. */
export function sealSessionState(session: OpenedSession, value: JsonValue, revision: number): Promise<string> {
  const { id, principal, callerKey, createdAt, expiresAt, sessionOptions } = session
  return sessionOptions.stateCodec.seal([revision, value], {
    purpose: sessionPurposes.state,
    owner: callerKey,
    binding: [id, principalIdentityOf(principal)],
    since: createdAt,
    replaces: session.stateToken,
    ttlMs: Math.max(1, expiresAt - sessionOptions.now()),
  })
}

const initialState = { state: undefined, stateToken: undefined, revision: 0 }

async function openSessionState(
  id: string,
  stateToken: string,
  { principal, callerKey, sessionOptions }: SessionRequest,
): Promise<Pick<OpenedSession, 'state' | 'stateToken' | 'revision'>> {
  const binding = [id, principalIdentityOf(principal)]
  const content = await sessionOptions.stateCodec.open(stateToken, {
    purpose: sessionPurposes.state,
    binding,
    owner: callerKey,
    cacheContent: true,
  })
  const [revision, value] = Array.isArray(content) ? content : []
  if (typeof revision !== 'number' || value === undefined)
    throw new Error('The state has a form that is not known here')
  return { state: value, stateToken, revision }
}

function parseSessionTimes(content: JsonValue): [createdAt: number, expiresAt: number] {
  const [createdAt, expiresAt] = Array.isArray(content) ? content : []
  if (typeof createdAt === 'number' && typeof expiresAt === 'number') return [createdAt, expiresAt]
  throw new Error('The id has a form that is not known here')
}
