import { errorRecord } from '@x/core'
import { type CallContext, contextKey, type ContextKey, type Principal } from '@x/exchange'
import type { JsonObject, JsonValue } from '@x/schema'
import { principalIdentityOf, type RecordedPart, restoredPartsKey } from '@x/exchange/internal'
import { isStateError } from '@x/state-codec'
import type { SessionMetadata } from '../session-metadata.ts'
import { SessionError } from '../session-error.ts'
import { isTransient } from './session-errors.ts'
import { type ResolvedSessionOptions, type SessionDefinition, sessionPurposes } from './resolved-session-options.ts'

/** A request that creates, deletes or uses a session. */
export interface SessionRequest {
  readonly method: string
  /** Gets an error that the client does not see. */
  readonly report: (error: unknown) => void
  readonly principal: Principal | undefined
  /** Quotas count the caller by this key. */
  readonly callerKey: string
  readonly sessionOptions: ResolvedSessionOptions
}

type SessionContent = Pick<OpenedSession, 'id' | 'createdAt' | 'expiresAt' | 'state' | 'stateToken' | 'revision'>

/** A session, as opened for one request. */
export class OpenedSession implements SessionRequest {
  readonly method: string
  readonly report: (error: unknown) => void
  readonly principal: Principal | undefined
  readonly callerKey: string
  readonly sessionOptions: ResolvedSessionOptions
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970. */
  readonly expiresAt: number
  /** Undefined if the handlers keep no state, and in a deletion without one. */
  readonly state: JsonValue | undefined
  /** The sealed state of the request. */
  readonly stateToken: string | undefined
  /** How often the state was replaced. */
  readonly revision: number
  readonly #runs: SessionRun[] = []
  /** A task uses the session as it was recorded when the task was created. */
  readonly #isRecorded: boolean
  #isOpen: boolean
  #claim: { readonly key: string; readonly value: string } | undefined
  #view: object | undefined

  constructor(request: SessionRequest, content: SessionContent, isRecorded = false) {
    this.method = request.method
    this.report = request.report
    this.principal = request.principal
    this.callerKey = request.callerKey
    this.sessionOptions = request.sessionOptions
    this.id = content.id
    this.createdAt = content.createdAt
    this.expiresAt = content.expiresAt
    this.state = content.state
    this.stateToken = content.stateToken
    this.revision = content.revision
    this.#isRecorded = isRecorded
    this.#isOpen = !isRecorded
  }

  /** Undefined if the last run was suspended. */
  get lastDraft(): SessionRun['draft'] {
    const lastRun = this.#runs.at(-1)
    return lastRun?.draft === undefined || lastRun.ctx.signal?.aborted === true ? undefined : lastRun.draft
  }

  getOrCreateRun(ctx: CallView): SessionRun {
    // Signals are compared last: creating one, when it is first read, takes a tenth of the time of a call.
    const knownRun = this.#runs.find((other) => other.ctx === ctx || other.ctx.signal === ctx.signal)
    if (knownRun !== undefined) return knownRun
    const run = new SessionRun(this, ctx)
    this.#runs.push(run)
    return run
  }

  /** What `visibleTo` receives for the session. */
  getOrCreateView(create: () => object): object {
    this.#view ??= create()
    return this.#view
  }

  /** @throws SessionError after the request was answered, and in a task. */
  rejectIfEnded(methodName: string): void {
    if (this.#isOpen) return
    const problem = this.#isRecorded
      ? 'in a task: a task has its session as it was at its creation, and no answer that could change it'
      : 'after the call had ended: await everything that the handler starts'
    throw new SessionError('usage', `${methodName} was called ${problem}`)
  }

  /** Claims the next revision under a key of the store, which `add` adds with a value of this call alone. */
  async claim(key: string, add: (value: string) => Promise<boolean>): Promise<boolean> {
    if (this.#claim !== undefined) return true
    const claim = { key, value: this.sessionOptions.randomUuid() }
    if (!(await add(claim.value))) return false
    this.#claim = claim
    return true
  }

  /** Rejects later changes of the state. */
  close(): void {
    this.#isOpen = false
  }

  /**
   * Closes the session for a call that changes no state, and releases its claim. If the store fails, the claim expires
   * later.
   */
  async abandon(): Promise<void> {
    this.close()
    const { store } = this.sessionOptions
    const claim = this.#claim
    this.#claim = undefined
    if (claim === undefined || store === undefined) return
    try {
      // The claim may have expired, and the key may have the claim of another call by now.
      if ((await store.get(claim.key)) === claim.value) await store.delete(claim.key)
    } catch (error) {
      this.report(error)
    }
  }

  /** What is recorded for a task. The id is `secret`, because it works like a credential. */
  record(): RecordedPart {
    const { id, createdAt, expiresAt, revision } = this
    const value = this.lastDraft?.value ?? this.state
    return { value: { createdAt, expiresAt, revision, ...(value !== undefined && { value }) }, secret: { id } }
  }

  /** The token is valid until the end of the session. */
  seal(value: JsonValue, revision: number): Promise<string> {
    const { id, principal, callerKey, createdAt, expiresAt, sessionOptions } = this
    return sessionOptions.stateCodec.seal([revision, value], {
      purpose: sessionPurposes.state,
      owner: callerKey,
      binding: [id, principalIdentityOf(principal)],
      since: createdAt,
      replaces: this.stateToken,
      ttlMs: Math.max(1, expiresAt - sessionOptions.now()),
    })
  }
}

/** One run of a handler within a session, and the state that it has set. */
export class SessionRun {
  readonly session: OpenedSession
  /** The handler's context, or a copy of it. */
  readonly ctx: CallView
  draft: { readonly value: JsonValue } | undefined
  // A member, because a long-lived `WeakMap` would keep it until the next full garbage collection.
  #handlerSession: object | undefined

  constructor(session: OpenedSession, ctx: CallView) {
    this.session = session
    this.ctx = ctx
  }

  setDraft(value: JsonValue): void {
    this.draft = { value }
  }

  /** What the handler receives for the session. */
  getOrCreateHandlerSession(create: () => object): object {
    this.#handlerSession ??= create()
    return this.#handlerSession
  }
}

/** A handler's context, or the view of a call that `visibleTo` receives. */
export interface CallView {
  readonly context: CallContext
  /**
   * Signal of the run, in the context of a handler. It differs between the runs of one call, and is the same in copies
   * of the context.
   */
  readonly signal?: AbortSignal | undefined
}

export const openedSessionKey: ContextKey<OpenedSession> = contextKey('x/session')

/** Name of the session in the record of a task. */
export const recordedPartName = 'session'

/** Options of each definition at the server that was started last, with which sessions of tasks are restored. */
const startedOptions = new WeakMap<SessionDefinition, ResolvedSessionOptions>()

export function recordStart(definition: SessionDefinition, sessionOptions: ResolvedSessionOptions): void {
  startedOptions.set(definition, sessionOptions)
}

/** The session of a call, or the one that was recorded for a task. Undefined if it is of another definition. */
export function findOpenedSession({ context }: CallView, definition: SessionDefinition): OpenedSession | undefined {
  const session = context.get(openedSessionKey)
  if (session !== undefined) return session.sessionOptions.definition === definition ? session : undefined
  const recordedPart = context.get(restoredPartsKey)?.[recordedPartName]
  const sessionOptions = startedOptions.get(definition)
  return recordedPart && sessionOptions && restoreSession(recordedPart, sessionOptions)
}

const restoredSessions = new WeakMap<JsonObject, OpenedSession>()

// The record was written by this version of the package or another one.
function restoreSession(recordedPart: JsonObject, sessionOptions: ResolvedSessionOptions): OpenedSession | undefined {
  const knownSession = restoredSessions.get(recordedPart)
  if (knownSession !== undefined) return knownSession
  const { id, createdAt, expiresAt, revision, value } = recordedPart
  if (typeof createdAt !== 'number' || typeof expiresAt !== 'number' || typeof revision !== 'number') return undefined
  const method = 'tools/call'
  const report = (error: unknown): void => sessionOptions.log(errorRecord(error, { method }))
  const session = new OpenedSession(
    { method, report, principal: undefined, callerKey: '', sessionOptions },
    { id: typeof id === 'string' ? id : '', createdAt, expiresAt, state: value, stateToken: undefined, revision },
    true,
  )
  restoredSessions.set(recordedPart, session)
  return session
}

/** The id contains, in sealed form, when the session was created and when it ends, and is bound to the principal. */
export async function createOpenedSession(request: SessionRequest): Promise<OpenedSession> {
  const { sessionOptions, principal, callerKey } = request
  const createdAt = sessionOptions.now()
  const expiresAt = createdAt + sessionOptions.ttlMs
  const id = await sessionOptions.codec.seal([createdAt, expiresAt, sessionOptions.randomUuid()], {
    purpose: sessionPurposes.id,
    // A session belongs to one principal. Without authentication, every caller that has the id can use it.
    binding: principalIdentityOf(principal),
    owner: callerKey,
    ttlMs: sessionOptions.ttlMs,
  })
  return new OpenedSession(request, { id, createdAt, expiresAt, ...initialState })
}

/**
 * This server must have sealed the id for this principal, and the state for that id. If sessions have a state, the
 * request must contain it, unless it deletes the session. Throws {@link SessionError} `not_found` for every failure, so
 * that an attacker cannot see the reason; the log gets the cause.
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
        reusable: true,
      }),
    )
    if (!(sessionOptions.now() < expiresAt)) throw new Error('The session has expired')
    if (!(await sessionOptions.registry.isLive(sessionId))) throw new Error('The session was deleted or revoked')
    const content = state === undefined ? initialState : await openSessionState(sessionId, state, request)
    // Otherwise a client could reset the session to its first state by omitting the state.
    if (state === undefined && sessionOptions.hasState && request.needsState)
      throw new Error('The request has no state of its session')
    return new OpenedSession(request, { id: sessionId, createdAt, expiresAt, ...content })
  } catch (cause) {
    if (isRetryable(cause)) throw cause
    throw new SessionError('not_found', 'Session not found', { cause, sessionId })
  }
}

/** A temporary failure, and an exhausted quota of the caller, end no session. */
function isRetryable(cause: unknown): boolean {
  return isTransient(cause) || (isStateError(cause) && cause.code === 'quota')
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
    reusable: true,
  })
  const [revision, value] = Array.isArray(content) ? content : []
  if (typeof revision !== 'number' || value === undefined) throw new Error('The state has an unknown format')
  return { state: value, stateToken, revision }
}

function parseSessionTimes(content: JsonValue): [createdAt: number, expiresAt: number] {
  const [createdAt, expiresAt] = Array.isArray(content) ? content : []
  if (typeof createdAt === 'number' && typeof expiresAt === 'number') return [createdAt, expiresAt]
  throw new Error('The id has an unknown format')
}
