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
  /** Reports an error that the client does not see. */
  readonly report: (error: unknown) => void
  readonly principal: Principal | undefined
  /** The key by which quotas count the caller. */
  readonly callerKey: string
  readonly sessionOptions: ResolvedSessionOptions
}

type SessionContent = Pick<OpenedSession, 'id' | 'createdAt' | 'expiresAt' | 'state' | 'stateToken' | 'revision'>

/** A session as opened for one request. */
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
  /** The state. Undefined if the handlers keep no state, and in a deletion without a state. */
  readonly state: JsonValue | undefined
  /** The token with the sealed state of the request. */
  readonly stateToken: string | undefined
  /** The number of times that the state was replaced. */
  readonly revision: number
  /** The runs of the handler in their order. The state that the last run set is kept. */
  readonly #runs: SessionRun[] = []
  /** True in a run of a task, which uses the session as it was recorded when the task was created. */
  readonly #isRecorded: boolean
  /** False after the request was answered. Later changes of the state are rejected. */
  #isOpen: boolean
  /** The key in the store under which this call has claimed the next revision. */
  #claimKey: string | undefined
  /** The object that `visibleTo` receives for the session. */
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

  /** The state that the last run has set. Undefined if the last run was suspended. */
  get lastDraft(): SessionRun['draft'] {
    const lastRun = this.#runs.at(-1)
    return lastRun?.draft === undefined || lastRun.ctx.signal?.aborted === true ? undefined : lastRun.draft
  }

  /** Returns the run of a handler within the session. The first call for a run creates it. */
  getOrCreateRun(ctx: CallView): SessionRun {
    // Signals are compared last. A signal is created when it is first read, which takes a tenth of the time of a call.
    const knownRun = this.#runs.find((other) => other.ctx === ctx || other.ctx.signal === ctx.signal)
    if (knownRun !== undefined) return knownRun
    const run = new SessionRun(this, ctx)
    this.#runs.push(run)
    return run
  }

  /** Returns the view of the session. The first call creates it. */
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

  /** Claims the next revision under a key of the store, by a function that adds the key. */
  async claim(key: string, add: () => Promise<boolean>): Promise<boolean> {
    if (this.#claimKey !== undefined) return true
    if (!(await add())) return false
    this.#claimKey = key
    return true
  }

  /** Rejects later changes of the state. */
  close(): void {
    this.#isOpen = false
  }

  /** Closes the session for a call that failed, and releases its claim. If the store fails, the claim expires later. */
  async abandon(): Promise<void> {
    this.close()
    const claimKey = this.#claimKey
    this.#claimKey = undefined
    if (claimKey === undefined) return
    try {
      await this.sessionOptions.store?.delete(claimKey)
    } catch (error) {
      this.report(error)
    }
  }

  /**
   * Returns the part of the session that is recorded for a task. The id is in the member `secret`, because it works like
   * a credential.
   */
  record(): RecordedPart {
    const { id, createdAt, expiresAt, revision } = this
    const value = this.lastDraft?.value ?? this.state
    return { value: { createdAt, expiresAt, revision, ...(value !== undefined && { value }) }, secret: { id } }
  }

  /** Seals a state for the client. The token is valid until the end of the session. */
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
  /** The context of the handler, or a copy of it. */
  readonly ctx: CallView
  draft: { readonly value: JsonValue } | undefined
  // It is stored here, because a long-lived `WeakMap` would keep it until the next full garbage collection.
  #handlerSession: object | undefined

  constructor(session: OpenedSession, ctx: CallView) {
    this.session = session
    this.ctx = ctx
  }

  setDraft(value: JsonValue): void {
    this.draft = { value }
  }

  /** Returns the object that the handler receives for the session. The first call creates it. */
  getOrCreateHandlerSession(create: () => object): object {
    this.#handlerSession ??= create()
    return this.#handlerSession
  }
}

/** The context of a handler, or the view of a call that `visibleTo` receives. */
export interface CallView {
  readonly context: CallContext
  /**
   * The signal of the run, in the context of a handler. It differs between the runs of one call, and is the same in
   * copies of the context.
   */
  readonly signal?: AbortSignal | undefined
}

/** The context key of the session of a request. */
export const openedSessionKey: ContextKey<OpenedSession> = contextKey('x/session')

/** The name of the session in the record of a task. */
export const recordedPartName = 'session'

/**
 * The options of each definition, at the server that was started last. The sessions of tasks are restored with these
 * options.
 */
const startedOptions = new WeakMap<SessionDefinition, ResolvedSessionOptions>()

/** Records the options of a definition at a server that was started. */
export function recordStart(definition: SessionDefinition, sessionOptions: ResolvedSessionOptions): void {
  startedOptions.set(definition, sessionOptions)
}

/**
 * Returns the session of a call, or the session that was recorded for a task. Returns undefined for a session of
 * another definition.
 */
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

/**
 * Creates a session. Its id contains the times of its creation and end in sealed form, and is bound to the principal.
 */
export async function createOpenedSession(request: SessionRequest): Promise<OpenedSession> {
  const { sessionOptions, principal, callerKey } = request
  const createdAt = sessionOptions.now()
  const expiresAt = createdAt + sessionOptions.ttlMs
  const id = await sessionOptions.codec.seal([createdAt, expiresAt, sessionOptions.randomUuid()], {
    purpose: sessionPurposes.id,
    // A session belongs to one principal. Without authentication, every caller that has the id can use the session.
    binding: principalIdentityOf(principal),
    owner: callerKey,
    ttlMs: sessionOptions.ttlMs,
  })
  return new OpenedSession(request, { id, createdAt, expiresAt, ...initialState })
}

/**
 * Opens and verifies the session of a request. This server must have sealed the id for this principal, and the state
 * for that id. If sessions have a state, the request must contain it, unless it deletes the session. Throws
 * {@link SessionError} `not_found` for every failure, so that an attacker cannot see the reason. The cause is reported to
 * the log.
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
    // Without this check, a client could reset the session to its first state by omitting the state.
    if (state === undefined && sessionOptions.hasState && request.needsState)
      throw new Error('The request has no state of its session')
    return new OpenedSession(request, { id: sessionId, createdAt, expiresAt, ...content })
  } catch (cause) {
    if (isRetryable(cause)) throw cause
    throw new SessionError('not_found', 'Session not found', { cause, sessionId })
  }
}

/**
 * Returns true for a temporary failure, and for an exhausted quota of the caller. These failures do not end a session.
 */
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
  if (typeof revision !== 'number' || value === undefined)
    throw new Error('The state has a form that is not known here')
  return { state: value, stateToken, revision }
}

function parseSessionTimes(content: JsonValue): [createdAt: number, expiresAt: number] {
  const [createdAt, expiresAt] = Array.isArray(content) ? content : []
  if (typeof createdAt === 'number' && typeof expiresAt === 'number') return [createdAt, expiresAt]
  throw new Error('The id has a form that is not known here')
}
