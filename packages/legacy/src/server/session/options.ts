import {
  type ChangeBus,
  isWorkerd,
  maxTimerMs,
  type OptionTable,
  requireSync,
  type ResolvedOptions,
  resolveOptions,
  type Runtime,
} from '@x/core'
import type { ExtensionHost } from '@x/exchange'
import {
  lazyState,
  memoryStore,
  randomKey,
  sealedState,
  singleUseState,
  type StateCodec,
  type StateStore,
} from '@x/state-codec'
import { type LegacyRevision, legacyRevisions } from '../../translate/revisions.ts'

/** Codes of the warnings that the extension logs. */
export type LegacyWarningCode =
  /** A session id was not accepted. For every reason the client gets status 404. */
  | 'session_rejected'
  /**
   * An instance received an answer that none of its calls waits for. The balancer must send all requests of a session
   * to one instance.
   */
  | 'unknown_answer'
  /** A session id is longer than 2 KiB. Some proxies do not accept such a header. */
  | 'large_session'
  /** Because of a limit, a stream was ended, a `state` was omitted, or the settings of an idle session were deleted. */
  | 'limit'
  /** An answer's `state` was not accepted. For every reason the client gets status 400. */
  | 'state_rejected'
  /**
   * A client answered a question without returning its `state`. The answer was accepted, because the call that asked
   * still waits at this instance.
   */
  | 'missing_echo'

/** A question that a server asks an older client. */
export interface StateQuestion {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  readonly method: string
  /** The tool that asks. Undefined if a prompt or a resource asks. */
  readonly tool: string | undefined
}

export interface LegacyOptions {
  /** The revisions that are served. Default: all. */
  readonly revisions?: readonly LegacyRevision[] | undefined
  /**
   * Lifetime of a session, in milliseconds. The server's `state` must be able to open a token for this time. Default:
   * 24 hours.
   */
  readonly sessionTtlMs?: number | undefined
  /** Milliseconds that a question waits for its answer. Default: 10 minutes. */
  readonly answerTimeoutMs?: number | undefined
  /** Milliseconds for which a broken stream is kept until its client resumes it. Default: 60 seconds. */
  readonly resumeWindowMs?: number | undefined
  /**
   * Milliseconds after which the server closes a call's connection, so that the client polls for the rest of the
   * stream. Default: the connection stays open.
   */
  readonly closeAfterMs?: number | undefined
  /**
   * True to send questions with the `state` of SEP-1685, if the client declares that it returns it. This `state`
   * contains the call, sealed by the server's `state` option, so a call that waits for an answer survives a restart of
   * its instance, behind a balancer that hashes the session header. A function selects the questions that get a
   * `state`. Default: no question gets one.
   */
  readonly questionState?: true | ((question: StateQuestion) => boolean) | undefined
  /**
   * Links several instances behind any balancer, with a store that all of them share, such as `redisStore` or
   * `postgresStore` of `@x/state-codec`. Any instance can then accept answers for calls at other instances, and resume
   * their streams, and a call that waits for an answer survives the end of its instance. The server needs a
   * `subscriptions.bus`, with which instances notify each other. Without a store, the balancer must hash the session
   * header.
   */
  readonly store?: StateStore | undefined
}

/** What the extension uses of the server. */
export type HostParts = Pick<ExtensionHost, 'bus' | 'log' | 'state'> & { readonly runtime: Pick<Runtime, 'now'> }

/** Store and bus that several instances share, so that each one can serve the sessions of the others. */
export interface LegacyLink {
  /** Keeps waiting rounds and their answers, and the log levels and subscriptions of sessions. */
  readonly store: StateStore
  /** Carries the messages between instances. */
  readonly bus: ChangeBus
}

type ResolvedLegacyOptions = ResolvedOptions<LegacyOptions, typeof legacyOptionTable>

/** {@link LegacyOptions} with defaults filled in. */
export interface LegacySettings extends Omit<ResolvedLegacyOptions, 'questionState' | 'store'> {
  /** Seals session ids. */
  readonly state: StateCodec
  /** False if a call ends with its connection, so that no stream can be resumed. */
  readonly keepsStreams: boolean
  readonly questionState: QuestionStateSettings | undefined
  readonly link: LegacyLink | undefined
  /** Logs a problem that does not stop calls. */
  readonly warn: (warning: { readonly code: LegacyWarningCode; readonly message: string }) => void
}

/** For the `state` of questions (SEP-1685). */
export interface QuestionStateSettings {
  /** Opens each state only once. */
  readonly codec: StateCodec
  /** True if a question is to be sent with a state. */
  readonly isChosen: (question: StateQuestion) => boolean
}

const legacyOptionTable = {
  revisions: { default: legacyRevisions },
  // limit: `sessionTtlMs` | ms | the life of a session | 404
  sessionTtlMs: { default: 86_400_000, max: maxTimerMs },
  // limit: ms | a question that waits for its answer | the question counts as cancelled. For sampling and roots, the
  //   call fails
  answerTimeoutMs: { default: 600_000, max: maxTimerMs },
  // limit: ms | the time in which a client can resume a broken stream | the stream ends
  resumeWindowMs: { default: 60_000, max: maxTimerMs },
  closeAfterMs: { default: Number.POSITIVE_INFINITY, max: maxTimerMs },
  questionState: undefined,
  store: undefined,
} satisfies OptionTable<LegacyOptions>

/**
 * Fills in defaults, and sorts the revisions, newest first. Throws a TypeError for an unknown option or revision, and a
 * RangeError for an invalid number of milliseconds.
 */
export function resolveLegacyOptions(options: LegacyOptions): ResolvedLegacyOptions {
  const resolved = resolveOptions(options, legacyOptionTable, 'legacy')
  return { ...resolved, revisions: resolveRevisions(resolved) }
}

/** Fills in defaults. Throws a TypeError if an option needs a part that the server does not have. */
export function resolveLegacySettings(options: LegacyOptions, host: HostParts): LegacySettings {
  if (isWorkerd()) rejectStreamOptions(options)
  const { questionState, store, ...settings } = resolveLegacyOptions(options)
  return {
    ...settings,
    keepsStreams: !isWorkerd(),
    state: host.state ?? lazyState(() => sealedState({ keys: [randomKey()] })),
    questionState: resolveQuestionState({ questionState, store }, host.state),
    link: resolveLink(store, host.bus),
    warn: createLegacyWarn(host),
  }
}

/** These options let a call continue without its connection. */
const streamOptionNames = ['closeAfterMs', 'questionState', 'store'] as const

function rejectStreamOptions(options: LegacyOptions): void {
  const givenName = streamOptionNames.find((name) => options[name] !== undefined)
  if (givenName === undefined) return
  throw new TypeError(
    `legacy({ ${givenName} }) does not work on workerd, which ends a call with its connection: leave ${givenName} out`,
  )
}

function resolveRevisions({ revisions }: Pick<ResolvedLegacyOptions, 'revisions'>): readonly LegacyRevision[] {
  const unknownRevision = revisions.find((revision) => !legacyRevisions.includes(revision))
  if (unknownRevision === undefined && revisions.length > 0)
    return legacyRevisions.filter((revision) => revisions.includes(revision))
  throw new TypeError(
    `revisions has ${JSON.stringify(unknownRevision)}: give one or more of ${legacyRevisions.join(', ')}`,
  )
}

function resolveQuestionState(
  { questionState, store }: LegacyOptions,
  state: StateCodec | undefined,
): QuestionStateSettings | undefined {
  if (questionState === undefined) return undefined
  if (state === undefined)
    throw new TypeError('legacy({ questionState }) seals with the `state` of the server: give createServer a `state`')
  return {
    // If the codec and the option shared a store, it would remember a token twice, and so reject its first use.
    codec: state.opensOnce ? state : singleUseState(state, store ?? memoryStore({ maxEntries: maxOpenedStates })),
    isChosen: (question) => questionState === true || requireSync('questionState', questionState(question)),
  }
}

const maxOpenedStates = 100_000

function resolveLink(store: StateStore | undefined, bus: ChangeBus | undefined): LegacyLink | undefined {
  if (store === undefined) return undefined
  if (bus !== undefined) return { store, bus }
  throw new TypeError(
    'legacy({ store }) needs a bus that all instances share: give createServer `subscriptions: { bus }`, ' +
      'such as redisBus or postgresBus of @x/server',
  )
}

/**
 * Milliseconds in which a warning of one code is logged only once: clients cause most warnings and could fill the log.
 */
const warningPauseMs = 60_000

function createLegacyWarn({ log, runtime }: HostParts): LegacySettings['warn'] {
  // Bounded by the codes of warnings.
  const loggedAt = new Map<LegacyWarningCode, number>()
  return ({ code, message }) => {
    const now = runtime.now()
    if (now - (loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) < warningPauseMs) return
    loggedAt.set(code, now)
    log({ level: 'warn', method: 'legacy', code, message })
  }
}
