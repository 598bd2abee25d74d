import { errorListener, runtimeOf } from '@x/schema'
import type { StateCodec } from '@x/state-codec'
import { DefinitionError } from '../request/definition-error.ts'
import { randomlyKeyed } from './random-key.ts'
import { reportOnce } from './report-once.ts'
import { createCallerLimit } from '../shedding/caller-limit.ts'
import { openLoadMonitor } from '../shedding/open-load-monitor.ts'
import { createSubscriptions } from '../subscriptions/subscriptions.ts'
import { type ErrorContext, quote, report, type ServerSettings } from '../replay/served-request.ts'
import type { ServerDefinition } from '../definitions/server-definition.ts'

/** The parts of a definition that hold for every request, with what is absent filled in. */
export function compileServerSettings(definition: ServerDefinition): ServerSettings {
  const { describeError = failureOf, maxNotificationsPerSecond = 100 } = definition
  const onError = errorListener(definition.onError, '@x/server', describeContext)
  if (!Number.isSafeInteger(maxNotificationsPerSecond) || maxNotificationsPerSecond < 0) {
    const reason = `maxNotificationsPerSecond is ${maxNotificationsPerSecond}; write a whole number from 0`
    throw new DefinitionError('value', 'server', { reason })
  }
  const warn = reportOnce(
    errorListener(definition.onWarning, '@x/server', ({ where }) => (where ? describeContext(undefined, where) : '')),
  )
  const sources = sourcesOf(definition)
  const loadMonitor = openLoadMonitor(definition, { ...sources, warn })
  return {
    onError,
    describeError,
    maxNotificationsPerSecond,
    state: stateCodecOf(definition, warn),
    stateAudience: checkedAudience(definition),
    acceptUnaskedResponses: definition.acceptUnaskedResponses === true,
    warn,
    strictReplay: definition.strictReplay ?? isUnderTest(),
    ...sources,
    idempotency: definition.idempotency,
    loadMonitor,
    callers: createCallerLimit(definition.maxCallsPerCaller, loadMonitor.rules.retryAfterMs),
    subscriptions: createSubscriptions(definition.subscriptions ?? {}, {
      onError: (error) => report(error, { method: 'subscriptions/listen' }, { onError }),
      wallClock: sources.wallClock,
    }),
  }
}

/** Time and chance: the platform's, unless a test gives its own. */
function sourcesOf(definition: ServerDefinition): Pick<ServerSettings, 'now' | 'wallClock' | 'randomUuid' | 'runtime'> {
  const runtime = runtimeOf(definition.runtime)
  return {
    runtime,
    now: () => runtime.monotonicNow(),
    wallClock: () => runtime.now(),
    randomUuid: () => runtime.randomUuid(),
  }
}

function describeContext(_: unknown, { method, name }: ErrorContext): string {
  return name === undefined ? method : `${method} ${quote(name)}`
}

function stateCodecOf({ state }: ServerDefinition, warn: ServerSettings['warn']): StateCodec | undefined {
  if (state === false) return undefined
  return state ?? randomlyKeyed(warn)
}

function checkedAudience({ name, stateAudience }: ServerDefinition): string {
  if (stateAudience === undefined) return name
  if (typeof stateAudience === 'string' && stateAudience !== '') return stateAudience
  throw new DefinitionError('value', 'server', { reason: 'stateAudience must be a string that is not empty' })
}

/** Test runners name themselves in the environment, where there is one. */
function isUnderTest(): boolean {
  const platform: { readonly env?: Record<string, string | undefined> } | undefined = Reflect.get(globalThis, 'process')
  const { VITEST, NODE_TEST_CONTEXT, JEST_WORKER_ID } = platform?.env ?? {}
  return [VITEST, NODE_TEST_CONTEXT, JEST_WORKER_ID].some((value) => value !== undefined)
}

/** The message of an error may hold a connection string or a path, so the author alone receives it. */
function failureOf(_error: unknown, { name }: ErrorContext): string {
  return `Tool ${JSON.stringify(name ?? '')} failed`
}
