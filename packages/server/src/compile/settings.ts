import { createLedger, createLog, type Ledger, type Log, type Runtime, runtimeOf } from '@x/core'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { DefinitionError } from '../request/definition-error.ts'
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
  /** True where answers are believed that came before anything was asked. */
  readonly acceptUnaskedResponses: boolean
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
}

/** The parts of a definition that hold for every request, with what is absent filled in. */
export function compileServerSettings(definition: ServerDefinition): ServerSettings {
  checkServerOptions(definition)
  const { maxNotificationsPerSecond = 100 } = definition
  const log = createLog(definition.log, '@x/server')
  if (!Number.isSafeInteger(maxNotificationsPerSecond) || maxNotificationsPerSecond < 0) {
    const reason = `maxNotificationsPerSecond is ${maxNotificationsPerSecond}; write a whole number from 0`
    throw new DefinitionError('value', 'server', { reason })
  }
  const warn = createWarn(log)
  const runtimeSettings = runtimeSettingsOf(definition)
  const ledger = ledgerOf(definition)
  const stateCodec = stateCodecOf(definition, warn)
  const loadMonitor = createPlatformLoadMonitor(definition, { ...runtimeSettings, warn })
  return {
    log,
    maxNotificationsPerSecond,
    ledger,
    stateCodec,
    parts: partsOf(definition, stateCodec, (error) => reportServerError(error, { method: 'ready' }, { log })),
    sharedStateCodec: sharedStateCodecOf(definition),
    stateAudience: resolveStateAudience(definition),
    acceptUnaskedResponses: definition.acceptUnaskedResponses === true,
    warn,
    strictReplay: definition.strictReplay ?? isUnderTest(),
    ...runtimeSettings,
    idempotency: definition.idempotency,
    loadMonitor,
    isBusAssumedLocal: isBusAssumedLocal(definition),
    subscriptions: createSubscriptions(definition.subscriptions ?? {}, {
      onError: (error) => reportServerError(error, { method: 'subscriptions/listen' }, { log }),
      wallClock: runtimeSettings.wallClock,
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

function ledgerOf({ limits }: ServerDefinition): Ledger {
  try {
    return createLedger(limits)
  } catch (error) {
    throw new DefinitionError('value', 'server', { reason: error instanceof Error ? error.message : String(error) })
  }
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

function resolveStateAudience({ name, stateAudience }: ServerDefinition): string {
  if (stateAudience === undefined) return name
  if (typeof stateAudience === 'string' && stateAudience !== '') return stateAudience
  throw new DefinitionError('value', 'server', { reason: 'stateAudience must be a string that is not empty' })
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
