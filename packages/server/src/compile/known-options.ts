import { findOptionsProblem, type KnownOptions, type LedgerLimits } from '@x/core'
import { DefinitionError } from '@x/exchange'
import { isJsonObject } from '@x/schema'
import type { ServerDefinition } from '../definitions/server-definition.ts'
import { describeType } from '../request/json-copy.ts'
import type { IdempotencyOptions, SheddingOptions } from '../shedding/shedding-options.ts'
import type { SubscriptionOptions } from '../subscriptions/options.ts'

const serverOptions = {
  tools: true,
  prompts: true,
  resources: true,
  resourceTemplates: true,
  name: true,
  version: true,
  title: true,
  description: true,
  icons: true,
  websiteUrl: true,
  instructions: true,
  extensions: true,
  use: true,
  ready: true,
  close: true,
  cache: true,
  compileSchema: true,
  limits: true,
  log: true,
  state: true,
  strictReplay: true,
  subscriptions: true,
  shedding: true,
  idempotency: true,
  runtime: true,
} satisfies Record<keyof ServerDefinition, true>

const limitOptions = {
  calls: true,
  waitingCalls: true,
  streams: true,
  tasks: true,
  sessions: true,
  bytes: true,
} satisfies Record<keyof LedgerLimits, true>

const sheddingOptions = {
  load: true,
  hardLimit: true,
} satisfies Record<keyof SheddingOptions, true>

const subscriptionOptions = {
  bus: true,
} satisfies Record<keyof SubscriptionOptions, true>

const idempotencyOptions = {
  store: true,
} satisfies Record<keyof IdempotencyOptions, true>

/** Throws {@link DefinitionError} for an unknown option of a server. The message advises which option to use. */
export function checkServerOptions(definition: ServerDefinition): void {
  const reason = findOptionsProblem(definition, serverOptions, 'createServer')
  if (reason !== undefined) throw new DefinitionError('value', 'server', { reason })
  checkFunctions(definition)
  const groups: readonly (readonly [unknown, KnownOptions, string])[] = [
    [definition.limits, limitOptions, 'createServer, limits,'],
    [definition.shedding, sheddingOptions, 'createServer, shedding,'],
    [definition.subscriptions, subscriptionOptions, 'createServer, subscriptions,'],
    [definition.idempotency, idempotencyOptions, 'createServer, idempotency,'],
  ]
  for (const [options, knownOptions, where] of groups) {
    if (options === undefined || options === false) continue
    const problem = findOptionsProblem(options, knownOptions, where)
    if (problem !== undefined) throw new DefinitionError('value', 'server', { reason: problem })
  }
}

/** Throws for middleware, extensions and a state that were not made by their functions. Programs without types do that. */
function checkFunctions(definition: ServerDefinition): void {
  const { use, extensions, state }: { readonly [name: string]: unknown } = { ...definition }
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
  const isCodec = isJsonObject(state) && typeof state['seal'] === 'function' && typeof state['open'] === 'function'
  if (state !== undefined && state !== false && !isCodec)
    fail('state', state, "state: sealedState({ keys: process.env.STATE_KEYS.split(',') }), or false")
}
