import { type ErrorListener, errorListener } from '@x/schema'
import { randomKey, sealed, type StateCodec } from '@x/state-codec'
import { type LegacyRevision, legacyRevisions } from '../revisions.ts'

/** Something that an operator should know though calls go on. */
export interface LegacyWarning {
  readonly code: /** A session id was not accepted; the client sees 404 whatever the reason. */
    | 'session_rejected'
    /** An answer reached an instance that waits for none: the balancer has to send a session to one instance. */
    | 'unknown_answer'
    /** A session id is longer than 2 KiB, which some proxies do not pass on. */
    | 'large_session'
    /** A limit ended a stream or dropped what an idle session had set. */
    | 'limit'
  readonly message: string
}

/** Options of {@link legacy}. */
export interface LegacyOptions {
  /**
   * Seals session ids: `sealedState({ keys })`, with the same keys at every instance. A random key when absent, and then the server
   * may be reached from this machine only.
   */
  readonly codec?: StateCodec | undefined
  /** The revisions to serve; all three when absent. */
  readonly revisions?: readonly LegacyRevision[] | undefined
  /** Milliseconds that a session lives; 24 hours when absent. The codec has to open tokens for as long (`maxAgeMs`). */
  readonly sessionTtlMs?: number | undefined
  /** Milliseconds that a question waits for its answer; 10 minutes when absent. */
  readonly answerTimeoutMs?: number | undefined
  /** Milliseconds that a broken stream is kept for its reader; 60 seconds when absent. */
  readonly resumeMs?: number | undefined
  /** Milliseconds after which the connection of a call is closed, so that the client polls for the rest. Never when absent. */
  readonly closeAfterMs?: number | undefined
  /** Rounds of one call that involve its client; 50 when absent. */
  readonly maxRounds?: number | undefined
  /** Broken streams that one instance keeps for their readers; 1,000 when absent, and 16 of one session. */
  readonly maxStreams?: number | undefined
  /** Receives warnings; by default each kind is one line of `console.error`. `false` for none. */
  readonly onWarning?: ErrorListener<[warning: LegacyWarning]>
}

/** {@link LegacyOptions} with what is absent filled in. */
export interface LegacySettings {
  readonly codec: StateCodec
  /** Newest first. */
  readonly revisions: readonly LegacyRevision[]
  readonly sessionTtlMs: number
  readonly answerTimeoutMs: number
  readonly resumeMs: number
  readonly closeAfterMs: number
  readonly maxRounds: number
  readonly maxStreams: number
  readonly maxStreamsOfSession: number
  readonly warn: (warning: LegacyWarning) => void
}

const day = 86_400_000
const longestTimer = 2_147_483_647

/**
 * Fills in what is absent.
 *
 * Throws a TypeError for a revision that is not known, and a RangeError for a number that makes no sense.
 */
export function legacySettings(options: LegacyOptions): LegacySettings {
  const given = options.revisions ?? legacyRevisions
  const unknown = given.find((revision) => !legacyRevisions.includes(revision))
  if (unknown !== undefined || given.length === 0) {
    throw new TypeError(`revisions has ${JSON.stringify(unknown)}: give one or more of ${legacyRevisions.join(', ')}`)
  }
  const milliseconds = (name: keyof LegacyOptions, preset: number): number =>
    wholeNumber(name, options[name] ?? preset, longestTimer)
  return {
    codec: options.codec ?? sealed({ keys: [randomKey()] }),
    revisions: legacyRevisions.filter((revision) => given.includes(revision)),
    sessionTtlMs: milliseconds('sessionTtlMs', day),
    answerTimeoutMs: milliseconds('answerTimeoutMs', 600_000),
    resumeMs: milliseconds('resumeMs', 60_000),
    closeAfterMs: options.closeAfterMs === undefined ? Number.POSITIVE_INFINITY : milliseconds('closeAfterMs', day),
    maxRounds: wholeNumber('maxRounds', options.maxRounds ?? 50, 10_000),
    maxStreams: wholeNumber('maxStreams', options.maxStreams ?? 1000, 1_000_000),
    maxStreamsOfSession: 16,
    warn: warnSafely(options.onWarning === undefined ? onceToConsole() : errorListener(options.onWarning, '@x/legacy')),
  }
}

function wholeNumber(name: string, value: unknown, most: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= most) return value
  throw new RangeError(`${name} is ${String(value)}: give a whole number from 1 to ${most}`)
}

function warnSafely(listen: (warning: LegacyWarning) => void): (warning: LegacyWarning) => void {
  return (warning) => {
    try {
      listen(warning)
    } catch {
      // The request goes on: its answer must not depend on how warnings are written down.
    }
  }
}

function onceToConsole(): (warning: LegacyWarning) => void {
  const said = new Set<string>()
  const write = errorListener<[LegacyWarning]>(undefined, '@x/legacy')
  return (warning) => {
    if (said.has(warning.code)) return
    said.add(warning.code)
    write(warning)
  }
}
