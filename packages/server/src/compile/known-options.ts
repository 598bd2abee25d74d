import { findUnknownOption, type KnownOptions, type LedgerLimits } from '@x/core'
import { DefinitionError } from '@x/exchange'
import type { ServerDefinition } from '../definitions/server-definition.ts'
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
  const groups: readonly (readonly [unknown, KnownOptions, string])[] = [
    [definition, serverOptions, 'createServer'],
    [definition.limits, limitOptions, 'createServer, limits,'],
    [definition.shedding, sheddingOptions, 'createServer, shedding,'],
    [definition.subscriptions, subscriptionOptions, 'createServer, subscriptions,'],
    [definition.idempotency, idempotencyOptions, 'createServer, idempotency,'],
  ]
  for (const [options, knownOptions, where] of groups) {
    if (typeof options !== 'object' || options === null) continue
    const reason = findUnknownOption(options, knownOptions, where)
    if (reason !== undefined) throw new DefinitionError('value', 'server', { reason })
  }
}
