import { checkOptions, type ErrorListener, errorListener, maxTimerMs } from '@x/core'
import type { JsonObject } from '@x/schema'
import { memoryStore, randomKey, sealedState, singleUseState, type StateCodec, type StateStore } from '@x/state-codec'
import { type LegacyRevision, legacyRevisions } from '../revisions.ts'

/** A problem that does not stop calls, and that an operator should know. */
export interface LegacyWarning {
  readonly code: /** A session id was not accepted. The client sees 404 for every reason. */
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
  readonly message: string
}

/** A question that a server asks an older client. */
export interface StateQuestion {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  readonly method: string
  /** The tool that asks, undefined for a prompt or a resource. */
  readonly tool: string | undefined
}

/** Options of the `state` of questions (SEP-1685). */
export interface LegacyStateOptions {
  /**
   * Seals the states. It opens each once at an instance. `singleUseState(codec, store)` extends that to the whole
   * fleet.
   */
  readonly codec: StateCodec
  /**
   * `'all'` sends states to clients that have not declared `experimental.requestState` too. Only for clients that are
   * known to return them: strict ones drop such a request, and the call hangs until its time is over.
   */
  readonly sendTo?: 'all' | undefined
  /** More codecs by name, for {@link LegacyStateOptions.chooseCodec}. A name has letters, digits and hyphens. */
  readonly otherCodecs?: Readonly<Record<string, StateCodec>> | undefined
  /**
   * Returns the name of one of `otherCodecs`, true for `codec`, or false for no state. True for every question when
   * absent.
   */
  readonly chooseCodec?: ((question: StateQuestion) => string | boolean) | undefined
}

/** Sends short messages between the instances of a server: any `ChangeBus` of `@x/server` is one. */
export interface LinkBus {
  /** Sends to every instance that listens. Rejects when the message could not be delivered to the bus. */
  publish(change: { readonly topic: string; readonly data?: JsonObject | undefined }): Promise<void>
  /** Listens until the function that it resolves with is called. `onGap`: messages may have been lost. */
  listen(listener: {
    readonly onChange: (change: { readonly topic: string; readonly data?: JsonObject | undefined }) => void
    readonly onGap: () => void
  }): Promise<() => void>
}

/** The link of the instances of a server: a store that they share, and a bus that wakes them. */
export interface LegacyLink {
  /**
   * Keeps calls that wait, their answers, and what sessions have set: `redisStore` or `postgresStore` of
   * `@x/state-codec`.
   */
  readonly store: StateStore
  /** Carries the names of what changed: `redisBus` or `postgresBus` of `@x/server`. */
  readonly bus: LinkBus
}

/** Options of {@link legacy}. */
export interface LegacyOptions {
  /**
   * Seals session ids. The `state` of the server when absent. Where it has none, a random key, and then the server may
   * be reached from this machine only.
   */
  readonly codec?: StateCodec | undefined
  /** The revisions to serve. Default: all. */
  readonly revisions?: readonly LegacyRevision[] | undefined
  /** Milliseconds that a session lives. Default: 24 hours. The codec has to open tokens for as long (`maxAgeMs`). */
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
  /** Rounds of one call that involve its client. Default: 50. */
  readonly maxRounds?: number | undefined
  /** Broken streams that one instance keeps for their readers. Default: 1,000, and 16 of one session. */
  readonly maxStreams?: number | undefined
  /**
   * Switches the `state` of SEP-1685 on: questions carry their call, sealed, to clients that declare that they return
   * it. A call that waits for an answer then survives a restart of its instance, behind a balancer that hashes the
   * session header. Off when absent.
   */
  readonly state?: StateCodec | LegacyStateOptions | undefined
  /**
   * Joins the instances of a fleet behind any balancer: each takes the answers and continues the streams of all, and
   * calls that wait for an answer survive the end of their instance. None when absent: then the balancer has to hash
   * the session header.
   */
  readonly link?: LegacyLink | undefined
  /** Receives warnings. By default each kind is one line of `console.error`. `false` for none. */
  readonly onWarning?: ErrorListener<[warning: LegacyWarning]>
}

/** {@link LegacyOptions} with what is absent filled in. */
export interface LegacySettings {
  readonly codec: StateCodec
  /** Newest first. */
  readonly revisions: readonly LegacyRevision[]
  readonly sessionTtlMs: number
  readonly answerTimeoutMs: number
  readonly resumeWindowMs: number
  readonly closeAfterMs: number
  readonly maxRounds: number
  readonly maxStreams: number
  readonly maxStreamsOfSession: number
  readonly stateSettings: StateSettings | undefined
  readonly link: LegacyLink | undefined
  readonly warn: (warning: LegacyWarning) => void
}

/** {@link LegacyStateOptions} with what is absent filled in. The name of the first codec is empty. */
export interface StateSettings {
  readonly codecs: ReadonlyMap<string, StateCodec>
  readonly sendsToAll: boolean
  /** Returns the name of a codec, or undefined for no state. */
  readonly chooseCodecName: (question: StateQuestion) => string | undefined
}

const dayMs = 86_400_000

const legacyOptionNames = {
  codec: true,
  revisions: true,
  sessionTtlMs: true,
  answerTimeoutMs: true,
  resumeWindowMs: true,
  closeAfterMs: true,
  maxRounds: true,
  maxStreams: true,
  state: true,
  link: true,
  onWarning: true,
} satisfies Record<keyof LegacyOptions, true>

/**
 * Fills in what is absent.
 *
 * Throws a TypeError for a revision that is not known, and a RangeError for a number that makes no sense.
 */
export function resolveLegacySettings(options: LegacyOptions, serverState: StateCodec | undefined): LegacySettings {
  checkOptions(options, legacyOptionNames, 'legacy')
  const givenRevisions = options.revisions ?? legacyRevisions
  const unknownRevision = givenRevisions.find((revision) => !legacyRevisions.includes(revision))
  if (unknownRevision !== undefined || givenRevisions.length === 0) {
    throw new TypeError(
      `revisions has ${JSON.stringify(unknownRevision)}: give one or more of ${legacyRevisions.join(', ')}`,
    )
  }
  const requireMilliseconds = (name: keyof LegacyOptions, defaultMs: number): number =>
    requireWholeNumber(name, options[name] ?? defaultMs, maxTimerMs)
  return {
    codec: resolveCodec(options.codec ?? serverState),
    revisions: legacyRevisions.filter((revision) => givenRevisions.includes(revision)),
    sessionTtlMs: requireMilliseconds('sessionTtlMs', dayMs),
    answerTimeoutMs: requireMilliseconds('answerTimeoutMs', 600_000),
    resumeWindowMs: requireMilliseconds('resumeWindowMs', 60_000),
    closeAfterMs:
      options.closeAfterMs === undefined ? Number.POSITIVE_INFINITY : requireMilliseconds('closeAfterMs', dayMs),
    maxRounds: requireWholeNumber('maxRounds', options.maxRounds ?? 50, 10_000),
    maxStreams: requireWholeNumber('maxStreams', options.maxStreams ?? 1000, 1_000_000),
    maxStreamsOfSession: 16,
    stateSettings: options.state === undefined ? undefined : resolveStateSettings(options.state),
    link: options.link,
    warn: createSafeWarn(
      options.onWarning === undefined ? createConsoleWarn() : errorListener(options.onWarning, '@x/legacy'),
    ),
  }
}

function resolveCodec(codec: StateCodec | undefined): StateCodec {
  return codec ?? sealedState({ keys: [randomKey()] })
}

function resolveStateSettings(stateOption: StateCodec | LegacyStateOptions): StateSettings {
  const {
    codec,
    sendTo,
    otherCodecs = {},
    chooseCodec = () => true,
  } = 'codec' in stateOption ? stateOption : { codec: stateOption }
  const invalidName = Object.keys(otherCodecs).find((name) => !/^[\w-]+$/.test(name))
  if (invalidName !== undefined)
    throw new TypeError(`state.otherCodecs has "${invalidName}": a name has letters, digits and hyphens`)
  const codecs = new Map([['', toSingleUseCodec(codec)]])
  for (const [name, otherCodec] of Object.entries(otherCodecs)) codecs.set(name, toSingleUseCodec(otherCodec))
  return {
    codecs,
    sendsToAll: sendTo === 'all',
    chooseCodecName(question) {
      const stateChoice = chooseCodec(question)
      if (typeof stateChoice === 'boolean') return stateChoice ? '' : undefined
      if (Object.hasOwn(otherCodecs, stateChoice)) return stateChoice
      throw new TypeError(`state.chooseCodec returned "${stateChoice}", which state.otherCodecs does not have`)
    },
  }
}

/** A state opens once at this instance, with every codec. */
function toSingleUseCodec(codec: StateCodec): StateCodec {
  return singleUseState(codec, memoryStore({ maxEntries: 100_000 }))
}

function requireWholeNumber(name: string, value: unknown, maximum: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= maximum) return value
  throw new RangeError(`${name} is ${String(value)}: give a whole number from 1 to ${maximum}`)
}

function createSafeWarn(listener: (warning: LegacyWarning) => void): (warning: LegacyWarning) => void {
  return (warning) => {
    try {
      listener(warning)
    } catch {
      // The answer to a request must not depend on how warnings are written down.
    }
  }
}

function createConsoleWarn(): (warning: LegacyWarning) => void {
  const reportedCodes = new Set<string>()
  const writeToConsole = errorListener<[LegacyWarning]>(undefined, '@x/legacy')
  return (warning) => {
    if (reportedCodes.has(warning.code)) return
    reportedCodes.add(warning.code)
    writeToConsole(warning)
  }
}
