import {
  type ChangeBus,
  createLedger,
  createLog,
  type Ledger,
  type Log,
  limitOutages,
  type ServiceLog,
  type Runtime,
  runtimeOf,
  findOptionsProblem,
} from '@x/core'
import { isStateError, lazyState, randomKey, sealedState, type StateCodec, StateError } from '@x/state-codec'
import { type InternalSettings, readInternalSettings } from '../definitions/internal-settings.ts'
import { type LoadMonitor, createPlatformLoadMonitor } from '../shedding/load-monitor.ts'
import { type ReadinessCheck, createEventSource, type EventSource } from '@x/exchange/internal'
import { createSubscriptions, type Subscriptions } from '../subscriptions/subscriptions.ts'
import { reportServerError, type ServerWarning } from '../request/report.ts'
import { type ServerDefinition, serverOptionTable } from '../definitions/server-definition.ts'
import type { IdempotencyOptions } from '../shedding/shedding-options.ts'
import { DefinitionError } from '@x/exchange'
import { isJsonObject } from '@x/schema'
import { describeType } from '../request/json-copy.ts'

/** Settings that `update` does not change. */
export interface ServerSettings {
  /** Never throws. */
  readonly log: Log
  /** Events for extensions that observe. */
  readonly events: EventSource
  /** Notes that a state was sealed or opened, which ends an outage of its store. */
  readonly noteStateStore: () => void
  /** One call may send at most this many progress and log messages per second. */
  readonly maxNotificationsPerSecond: number
  /** A monotonic clock in milliseconds, with an arbitrary start. */
  readonly now: () => number
  /** Seals `requestState`. Undefined with `state: false`, when handlers cannot ask clients. */
  readonly stateCodec: StateCodec | undefined
  /** Check the codec with its store, and the bus of subscriptions. */
  readonly readinessChecks: readonly ReadinessCheck[]
  /** `requestState` is bound to a service of this name. */
  readonly stateAudience: string
  readonly warn: (warning: ServerWarning) => void
  /** True if every handler is restarted at each `await` that could end a run, to detect code that is not repeatable. */
  readonly strictReplay: boolean
  /** Stack frames that errors about questions and steps show, by call. `replay/author-frames.ts` fills the map. */
  readonly authorFrames: Map<string, string | undefined>
  /** Milliseconds since 1970. */
  readonly wallClock: () => number
  readonly randomUuid: () => string
  readonly runtime: Runtime
  readonly subscriptions: Subscriptions
  /** True if the author gave a state that several instances can share, but no bus. */
  readonly isBusAssumedLocal: boolean
  /** Counts what the server keeps for each caller. */
  readonly ledger: Ledger
  /**
   * The author's own codec, which other instances can share. Undefined if the server has a random key or
   * `state: false`.
   */
  readonly sharedStateCodec: StateCodec | undefined
  /** Measures the server's load and counts its calls. */
  readonly loadMonitor: LoadMonitor
  /** Stores completed results, for calls that are sent again. */
  readonly idempotency: IdempotencyOptions | undefined
  /** In characters of JSON. A longer result is not stored, so a repeated call runs again. */
  readonly maxStoredResultCharacters: number
}

const defaults = {
  /** A person cannot read more messages in a second, and one connection carries them without delay. */
  // limit: messages of a call | count | progress and log messages of one second | dropped
  maxNotificationsPerSecond: 100,
  /** Bounds the store, which all instances share. */
  // limit: a stored result | characters | a result that is kept for a repeated call | not stored
  maxStoredResultCharacters: 262_144,
} satisfies InternalSettings

/** Fills in defaults for absent options. Throws `DefinitionError` for an unknown option. */
export function compileServerSettings(definition: ServerDefinition): ServerSettings {
  checkServerOptions(definition)
  const { maxNotificationsPerSecond, slowReaderTimeoutMs, maxStoredResultCharacters } = {
    ...defaults,
    ...readInternalSettings(definition),
  }
  const runtimeSettings = runtimeSettingsOf(definition)
  const services = limitOutages(createLog(definition.log, '@x/server'), runtimeSettings.runtime)
  const events = createEventSource(services.log)
  const { log } = events
  const warn = createWarn(log)
  const ledger = createLedger(definition.limits)
  const stateCodec = stateCodecOf(definition)
  busOf(definition)?.useLog?.(services.logOfBus)
  const loadMonitor = createPlatformLoadMonitor(definition, { ...runtimeSettings, warn })
  return {
    events,
    log,
    noteStateStore: () => services.succeed('StateError'),
    maxNotificationsPerSecond,
    ledger,
    stateCodec,
    readinessChecks: readinessChecksOf(
      notePings(services, 'StateError', async () => stateCodec?.ping?.()),
      notePings(services, 'BusError', async () => busOf(definition)?.ping?.()),
      (error) => reportServerError(error, { method: 'ready' }, { log }),
    ),
    sharedStateCodec: sharedStateCodecOf(definition),
    stateAudience: definition.name,
    warn,
    strictReplay: definition.strictReplay ?? isUnderTest(),
    authorFrames: new Map(),
    ...runtimeSettings,
    idempotency: definition.idempotency,
    maxStoredResultCharacters,
    loadMonitor,
    isBusAssumedLocal: isBusAssumedLocal(definition),
    subscriptions: createSubscriptions(definition.subscriptions ?? {}, {
      onError: (error) => reportServerError(error, { method: 'subscriptions/listen' }, { log }),
      events,
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

function busOf({ subscriptions }: ServerDefinition): ChangeBus | undefined {
  return subscriptions === false ? undefined : subscriptions?.bus
}

function isBusAssumedLocal(definition: ServerDefinition): boolean {
  const hasBus = definition.subscriptions === false || busOf(definition) !== undefined
  return sharedStateCodecOf(definition) !== undefined && !hasBus
}

/** While an instance is not ready, it gets no calls that would notice how long an outage lasts, and that it is over. */
function notePings(services: ServiceLog, errorName: string, ping: () => Promise<unknown>): () => Promise<void> {
  return async () => {
    try {
      await ping()
      services.succeed(errorName)
    } catch (error) {
      services.failCheck(errorName, error)
      throw error
    }
  }
}

function readinessChecksOf(
  pingState: () => Promise<unknown>,
  pingBus: () => Promise<unknown>,
  report: ReadinessCheck['report'],
): readonly ReadinessCheck[] {
  const checkOf = (name: string, isRequired: boolean, ping: () => Promise<unknown>): ReadinessCheck => ({
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
  return [checkOf('state', true, pingState), checkOf('subscriptions', false, pingBus)]
}

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

function stateCodecOf({ state }: ServerDefinition): StateCodec | undefined {
  if (state !== undefined) return state === false ? undefined : state
  const codec = lazyState(() => sealedState({ keys: [randomKey()] }))
  return { ...codec, open: (token, context) => codec.open(token, context).catch(explainUnknownKey) }
}

/**
 * True if a test runner, or `mcpx dev` for a module, has set its environment variable. False on a platform that has
 * none.
 */
function isUnderTest(): boolean {
  const processGlobal: { readonly env?: Record<string, string | undefined> } | undefined = Reflect.get(
    globalThis,
    'process',
  )
  const { VITEST, NODE_TEST_CONTEXT, JEST_WORKER_ID, MCPX_DEV } = processGlobal?.env ?? {}
  return [VITEST, NODE_TEST_CONTEXT, JEST_WORKER_ID, MCPX_DEV].some((value) => value !== undefined)
}

/**
 * Tells operators why a server without the option `state` is limited: at a public address, and when a state is
 * rejected.
 */
export const randomKeyReason =
  'createServer has no option state, so questions are sealed with a random key: they work while this one process lives, ' +
  'and an answer fails after a restart or at another instance. Give every instance the same keys, as in state: ' +
  "sealedState({ keys: process.env.STATE_KEYS.split(',') }), or state: false if no handler asks"

function explainUnknownKey(error: unknown): never {
  if (!isStateError(error) || error.code !== 'unknown_key') throw error
  throw new StateError('unknown_key', randomKeyReason, { cause: error })
}

const maxReportedWarnings = 1000

function createWarn(log: Log): (warning: ServerWarning) => void {
  const reportedWarnings = new Set<string>()
  return ({ code, message, where, key }) => {
    const warningKey = JSON.stringify([code, where, key])
    if (reportedWarnings.has(warningKey) || reportedWarnings.size >= maxReportedWarnings) return
    reportedWarnings.add(warningKey)
    log({ level: 'warn', code, message, ...where, ...(key !== undefined && { key }) })
  }
}

function checkServerOptions(definition: ServerDefinition): void {
  const reason = findOptionsProblem(definition, serverOptionTable, 'createServer')
  if (reason !== undefined) throw new DefinitionError('value', 'server', { reason })
  checkFunctions(definition)
}

function checkFunctions(definition: ServerDefinition): void {
  const { use, extensions, state, toolSearch }: { readonly [name: string]: unknown } = { ...definition }
  const fail = (what: string, value: unknown, right: string): never => {
    throw new DefinitionError('value', 'server', { reason: `${what} is ${describeType(value)}; write ${right}` })
  }
  const checkList = (name: string, list: unknown, right: string, isEntry: (entry: unknown) => boolean): void => {
    if (list === undefined) return
    if (!Array.isArray(list)) return fail(name, list, right)
    for (const [index, entry] of list.entries()) if (!isEntry(entry)) fail(`${name}[${index}]`, entry, right)
  }
  checkList('use', use, 'use: [(next) => (request, call) => next(request, call)]', (one) => typeof one === 'function')
  checkList('extensions', extensions, 'extensions: [legacy()], with a call of each', (one) => Object(one) === one)
  if (toolSearch !== undefined && !(isJsonObject(toolSearch) && typeof toolSearch['start'] === 'function'))
    fail('toolSearch', toolSearch, 'toolSearch: toolSearch(), with the function of @x/server/tool-search')
  const isCodec = isJsonObject(state) && typeof state['seal'] === 'function' && typeof state['open'] === 'function'
  if (state !== undefined && state !== false && !isCodec)
    fail('state', state, "state: sealedState({ keys: process.env.STATE_KEYS.split(',') }), or false")
}
