import { createLedger, createLog, type Ledger, type Log, type Runtime, runtimeOf } from '@x/core'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { type InternalSettings, readInternalSettings } from '../definitions/internal-settings.ts'
import { checkServerOptions } from './known-options.ts'
import { type LoadMonitor, createPlatformLoadMonitor } from '../shedding/load-monitor.ts'
import type { ServerPart } from './part-readiness.ts'
import { createSubscriptions, type Subscriptions } from '../subscriptions/subscriptions.ts'
import { type ErrorReporter, reportServerError, type ServerWarning } from '../request/report.ts'
import type { ServerDefinition } from '../definitions/server-definition.ts'
import type { IdempotencyOptions } from '../shedding/shedding-options.ts'

/** The settings of a server, which `update` does not change. */
export interface ServerSettings extends ErrorReporter {
  /** The progress and log messages that one call may send in a second. */
  readonly maxNotificationsPerSecond: number
  /** Milliseconds, from any beginning. */
  readonly now: () => number
  /** The codec of `requestState`, undefined where no handler may ask. */
  readonly stateCodec: StateCodec | undefined
  /** The store of that codec and the bus of subscriptions, as readiness asks them. */
  readonly parts: readonly ServerPart[]
  /** The service that `requestState` is bound to. */
  readonly stateAudience: string
  readonly warn: (warning: ServerWarning) => void
  /** True when every handler runs again at each of its awaits, to detect code that is not repeatable. */
  readonly strictReplay: boolean
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly randomUuid: () => string
  readonly runtime: Runtime
  readonly subscriptions: Subscriptions
  /** True where the author gave a state that instances can share, and no bus. */
  readonly isBusAssumedLocal: boolean
  /** Counts everything that is kept for a caller. */
  readonly ledger: Ledger
  /** The codec that the author gave: other instances have it too. Undefined for a random key, and without states. */
  readonly sharedStateCodec: StateCodec | undefined
  /** The load of the server. */
  readonly loadMonitor: LoadMonitor
  /** The store of completed results, for calls that are sent again. */
  readonly idempotency: IdempotencyOptions | undefined
  /** The characters of JSON that a stored result may have. A longer one is computed again. */
  readonly maxStoredResultCharacters: number
}

const defaults = {
  /** More than a person can read, and little for one connection. */
  maxNotificationsPerSecond: 100,
  /** A stored result is sent again whole: a larger one would fill the store of a fleet. */
  maxStoredResultCharacters: 262_144,
} satisfies InternalSettings

/** The parts of a definition that hold for every request, with what is absent filled in. */
export function compileServerSettings(definition: ServerDefinition): ServerSettings {
  checkServerOptions(definition)
  const { maxNotificationsPerSecond, slowReaderTimeoutMs, maxStoredResultCharacters } = {
    ...defaults,
    ...readInternalSettings(definition),
  }
  const log = createLog(definition.log, '@x/server')
  const warn = createWarn(log)
  const runtimeSettings = runtimeSettingsOf(definition)
  const ledger = createLedger(definition.limits)
  const stateCodec = stateCodecOf(definition, warn)
  const loadMonitor = createPlatformLoadMonitor(definition, { ...runtimeSettings, warn })
  return {
    log,
    maxNotificationsPerSecond,
    ledger,
    stateCodec,
    parts: partsOf(definition, stateCodec, (error) => reportServerError(error, { method: 'ready' }, { log })),
    sharedStateCodec: sharedStateCodecOf(definition),
    stateAudience: definition.name,
    warn,
    strictReplay: definition.strictReplay ?? isUnderTest(),
    ...runtimeSettings,
    idempotency: definition.idempotency,
    maxStoredResultCharacters,
    loadMonitor,
    isBusAssumedLocal: isBusAssumedLocal(definition),
    subscriptions: createSubscriptions(definition.subscriptions ?? {}, {
      onError: (error) => reportServerError(error, { method: 'subscriptions/listen' }, { log }),
      clock: runtimeSettings.runtime,
      wallClock: runtimeSettings.wallClock,
      slowReaderTimeoutMs,
      ledger,
    }),
  }
}

function sharedStateCodecOf({ state }: ServerDefinition): StateCodec | undefined {
  return state === false ? undefined : state
}

function isBusAssumedLocal(definition: ServerDefinition): boolean {
  const { subscriptions } = definition
  const hasBus = subscriptions === false || subscriptions?.bus !== undefined
  return sharedStateCodecOf(definition) !== undefined && !hasBus
}

function partsOf(
  { subscriptions }: ServerDefinition,
  stateCodec: StateCodec | undefined,
  report: ServerPart['report'],
): readonly ServerPart[] {
  const bus = subscriptions === false ? undefined : subscriptions?.bus
  const partOf = (name: string, isRequired: boolean, ping: () => Promise<unknown> | undefined): ServerPart => ({
    name,
    problem: `\`${name}\` cannot be reached`,
    consequence: 'changes of other instances are missed meanwhile',
    isRequired: () => isRequired,
    check: async () => {
      await ping()
      return true
    },
    report,
  })
  return [partOf('state', true, () => stateCodec?.ping?.()), partOf('subscriptions', false, () => bus?.ping?.())]
}

/** Time and chance: the platform's, unless a test gives its own. */
function runtimeSettingsOf(
  definition: ServerDefinition,
): Pick<ServerSettings, 'now' | 'wallClock' | 'randomUuid' | 'runtime'> {
  const runtime = runtimeOf(definition.runtime)
  return {
    runtime,
    now: () => runtime.monotonicNow(),
    wallClock: () => runtime.now(),
    randomUuid: () => runtime.randomUuid(),
  }
}

function stateCodecOf({ state }: ServerDefinition, warn: ServerSettings['warn']): StateCodec | undefined {
  if (state === false) return undefined
  return state ?? createRandomKeyCodec(warn)
}

/** Test runners name themselves in the environment, where there is one. */
function isUnderTest(): boolean {
  const processGlobal: { readonly env?: Record<string, string | undefined> } | undefined = Reflect.get(
    globalThis,
    'process',
  )
  const { VITEST, NODE_TEST_CONTEXT, JEST_WORKER_ID } = processGlobal?.env ?? {}
  return [VITEST, NODE_TEST_CONTEXT, JEST_WORKER_ID].some((value) => value !== undefined)
}

/** The reason why a server without keys serves one machine and one process. */
export const randomKeyReason =
  'createServer was given no state, so what a question leaves with the client is sealed with a random key, which no other ' +
  'instance has and a restart forgets: give state: sealedState({ keys: [process.env.STATE_KEY] }), or state: false where no ' +
  'handler asks'

/** A codec for a single process: its key is made when it is first needed, which is when it is said. */
function createRandomKeyCodec(warn: ServerSettings['warn']): StateCodec {
  let codec: StateCodec | undefined
  const getCodec = (): StateCodec => {
    if (codec === undefined) {
      codec = sealedState({ keys: [randomKey()] })
      warn({ code: 'random_key', message: randomKeyReason })
    }
    return codec
  }
  return {
    seal: (value, claims) => getCodec().seal(value, claims),
    open: (token, claims) => getCodec().open(token, claims),
  }
}

/** At most so many warnings are remembered as said. Later ones are not said at all. */
const maxReportedWarnings = 1000

/** Returns a function that logs every warning once. */
function createWarn(log: Log): (warning: ServerWarning) => void {
  const reportedWarnings = new Set<string>()
  return ({ code, message, where, key }) => {
    const warningKey = JSON.stringify([code, where, key])
    if (reportedWarnings.has(warningKey) || reportedWarnings.size >= maxReportedWarnings) return
    reportedWarnings.add(warningKey)
    log({ level: 'warning', code, message, ...where })
  }
}
