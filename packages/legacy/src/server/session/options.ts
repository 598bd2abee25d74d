import { type ChangeBus, checkedNumber, checkOptions, isWorkerd, maxTimerMs, type Runtime } from '@x/core'
import type { ExtensionHost } from '@x/schema'
import { memoryStore, randomKey, sealedState, singleUseState, type StateCodec, type StateStore } from '@x/state-codec'
import { type LegacyRevision, legacyRevisions } from '../../translate/revisions.ts'

/** The codes of the warnings that the extension writes to the log of its server. */
export type LegacyWarningCode =
  /** A session id was not accepted. The client sees 404 for every reason. */
  | 'session_rejected'
  /** An answer reached an instance that waits for none: the balancer has to send a session to one instance. */
  | 'unknown_answer'
  /** A session id is longer than 2 KiB, which some proxies do not pass on. */
  | 'large_session'
  /** A limit ended a stream, left a `state` out, or dropped what an idle session had set. */
  | 'limit'
  /** The `state` of an answer was not accepted. The client sees 400 for every reason. */
  | 'state_rejected'
  /** A client did not return the `state` of a question: its answer went to the call that waits here. */
  | 'missing_echo'

/** A problem that does not stop calls. */
export interface LegacyWarning {
  readonly code: LegacyWarningCode
  readonly message: string
}

/** A question that a server asks an older client. */
export interface StateQuestion {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  readonly method: string
  /** The tool that asks, undefined for a prompt or a resource. */
  readonly tool: string | undefined
}

/** Options of {@link legacy}. */
export interface LegacyOptions {
  /** The revisions to serve. Default: all. */
  readonly revisions?: readonly LegacyRevision[] | undefined
  /** Milliseconds that a session lives. Default: 24 hours. The `state` of the server has to open tokens for as long. */
  readonly sessionTtlMs?: number | undefined
  /** Milliseconds that a question waits for its answer. Default: 10 minutes. */
  readonly answerTimeoutMs?: number | undefined
  /** Milliseconds that a broken stream is kept for its reader. Default: 60 seconds. */
  readonly resumeWindowMs?: number | undefined
  /**
   * Milliseconds after which the connection of a call is closed, so that the client polls for the rest. Never when
   * absent.
   */
  readonly closeAfterMs?: number | undefined
  /**
   * Sends the `state` of SEP-1685 with questions to clients that declare that they return it: the call, sealed with the
   * `state` of the server. A call that waits for an answer then survives a restart of its instance, behind a balancer
   * that hashes the session header. A function chooses the questions. None has a `state` when absent.
   */
  readonly questionState?: true | ((question: StateQuestion) => boolean) | undefined
  /**
   * Links the instances of a fleet behind any balancer: `redisStore` or `postgresStore` of `@x/state-codec`, the same
   * for all instances. Each instance then takes the answers and continues the streams of all, and calls that wait for
   * an answer survive the end of their instance. The server needs a `subscriptions.bus`, over which the instances
   * notify one another. When absent, the balancer has to hash the session header.
   */
  readonly store?: StateStore | undefined
}

/** The parts of its server that the extension uses. */
export type HostParts = Pick<ExtensionHost, 'bus' | 'log' | 'state'> & { readonly runtime: Pick<Runtime, 'now'> }

/** What linked instances share. */
export interface LegacyLink {
  /** Keeps rounds that wait, their answers, log levels and subscriptions of sessions. */
  readonly store: StateStore
  /** Carries the messages with which instances notify one another. */
  readonly bus: ChangeBus
}

/** {@link LegacyOptions} with what is absent filled in. */
export interface LegacySettings {
  /** Seals session ids. */
  readonly state: StateCodec
  /** Newest first. */
  readonly revisions: readonly LegacyRevision[]
  readonly sessionTtlMs: number
  readonly answerTimeoutMs: number
  readonly resumeWindowMs: number
  readonly closeAfterMs: number
  /** False where a call ends with its connection, so that no stream waits for its reader. */
  readonly keepsStreams: boolean
  readonly questionState: QuestionStateSettings | undefined
  readonly link: LegacyLink | undefined
  readonly warn: (warning: LegacyWarning) => void
}

/** Settings of the `state` of questions (SEP-1685). */
export interface QuestionStateSettings {
  /** Opens each state once. */
  readonly codec: StateCodec
  /** Returns true for a question that is sent with a state. */
  readonly isChosen: (question: StateQuestion) => boolean
}

const dayMs = 86_400_000

const legacyOptionNames = {
  revisions: true,
  sessionTtlMs: true,
  answerTimeoutMs: true,
  resumeWindowMs: true,
  closeAfterMs: true,
  questionState: true,
  store: true,
} satisfies Record<keyof LegacyOptions, true>

/**
 * Checks options where they are written. Throws a TypeError for an option or a revision that is not known, and a
 * RangeError for a number that makes no sense.
 */
export function checkLegacyOptions(options: LegacyOptions): void {
  checkOptions(options, legacyOptionNames, 'legacy')
  resolveRevisions(options)
  resolveTimes(options)
}

/** Fills in what is absent. Throws a TypeError where the server lacks what an option needs. */
export function resolveLegacySettings(options: LegacyOptions, host: HostParts): LegacySettings {
  if (isWorkerd()) rejectStreamOptions(options)
  return {
    keepsStreams: !isWorkerd(),
    state: host.state ?? createLocalState(),
    revisions: resolveRevisions(options),
    ...resolveTimes(options),
    questionState: resolveQuestionState(options, host.state),
    link: resolveLink(options.store, host.bus),
    warn: createWarn(host),
  }
}

/** The options that have a call continue without its connection. */
const streamOptionNames = ['closeAfterMs', 'questionState', 'store'] as const

function rejectStreamOptions(options: LegacyOptions): void {
  const givenName = streamOptionNames.find((name) => options[name] !== undefined)
  if (givenName === undefined) return
  throw new TypeError(
    `legacy({ ${givenName} }) does not work on workerd, which ends a call with its connection: leave ${givenName} out`,
  )
}

function resolveRevisions({ revisions = legacyRevisions }: LegacyOptions): readonly LegacyRevision[] {
  const unknownRevision = revisions.find((revision) => !legacyRevisions.includes(revision))
  if (unknownRevision === undefined && revisions.length > 0)
    return legacyRevisions.filter((revision) => revisions.includes(revision))
  throw new TypeError(
    `revisions has ${JSON.stringify(unknownRevision)}: give one or more of ${legacyRevisions.join(', ')}`,
  )
}

type Times = Pick<LegacySettings, 'sessionTtlMs' | 'answerTimeoutMs' | 'resumeWindowMs' | 'closeAfterMs'>

function resolveTimes(options: LegacyOptions): Times {
  const readMilliseconds = (name: keyof Times, defaultMs: number): number => {
    const value = options[name]
    return value === undefined ? defaultMs : checkedNumber(name, value, { max: maxTimerMs })
  }
  return {
    sessionTtlMs: readMilliseconds('sessionTtlMs', dayMs),
    answerTimeoutMs: readMilliseconds('answerTimeoutMs', 600_000),
    resumeWindowMs: readMilliseconds('resumeWindowMs', 60_000),
    closeAfterMs: readMilliseconds('closeAfterMs', Number.POSITIVE_INFINITY),
  }
}

/** A codec with a random key, which is made when it is first used: workerd has no random values while it starts. */
function createLocalState(): StateCodec {
  let codec: StateCodec | undefined
  const getCodec = (): StateCodec => (codec ??= sealedState({ keys: [randomKey()] }))
  return {
    seal: (value, options) => getCodec().seal(value, options),
    open: (token, options) => getCodec().open(token, options),
  }
}

function resolveQuestionState(
  { questionState, store }: LegacyOptions,
  state: StateCodec | undefined,
): QuestionStateSettings | undefined {
  if (questionState === undefined) return undefined
  if (state === undefined)
    throw new TypeError('legacy({ questionState }) seals with the `state` of the server: give createServer a `state`')
  return {
    codec: singleUseState(state, store ?? memoryStore({ maxEntries: maxOpenedStates })),
    isChosen: questionState === true ? () => true : questionState,
  }
}

/** The states that were opened at this instance and are remembered, so that none opens twice. */
const maxOpenedStates = 100_000

function resolveLink(store: StateStore | undefined, bus: ChangeBus | undefined): LegacyLink | undefined {
  if (store === undefined) return undefined
  if (bus !== undefined) return { store, bus }
  throw new TypeError(
    'legacy({ store }) needs a bus that all instances share: give createServer `subscriptions: { bus }`, ' +
      'such as redisBus or postgresBus of @x/server',
  )
}

/** A peer causes most warnings: more of one code in this time, in milliseconds, would only fill the log. */
const warningPauseMs = 60_000

function createWarn({ log, runtime }: HostParts): (warning: LegacyWarning) => void {
  const loggedAt = new Map<LegacyWarningCode, number>()
  return ({ code, message }) => {
    const now = runtime.now()
    if (now - (loggedAt.get(code) ?? Number.NEGATIVE_INFINITY) < warningPauseMs) return
    loggedAt.set(code, now)
    log({ level: 'warning', method: 'legacy', code, message })
  }
}
