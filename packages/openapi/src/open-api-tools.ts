import { createLog, type JsonObject } from '@x/core'
import type { ToolAnnotations } from '@x/schema'
import { findHostProblems, type Tool, tool } from '@x/server'
import type { SchemaCut } from './document/assemble-schema.ts'
import { callOperation } from './call/call-operation.ts'
import { nameTool, withDigest } from './plan/name-tool.ts'
import { OpenApiError } from './document/open-api-error.ts'
import {
  type OpenApiOperation,
  type OpenApiOptions,
  type OpenApiSettings,
  parseApiUrl,
  resolveApiOptions,
} from './plan/options.ts'
import { type OperationPlan, planDocument, type PlanOutcome } from './plan/plan-operation.ts'
import { type Api, isReading } from './call/send-request.ts'

/** An operation of a document, with the tool that it becomes or the reason why it becomes none. */
export type PlannedOperation = OpenApiOperation &
  (
    | {
        /** The name of the tool. */
        readonly name: string
        /** The number of characters of the tool in the list. */
        readonly size: number
        /** What was left out of the schema of its arguments. Undefined if nothing was. */
        readonly cut: SchemaCut | undefined
        /** True if a call asks the user first. */
        readonly asks: boolean
        /** What known hosts refuse or drop. */
        readonly warnings: readonly string[]
        /** The schemes and scopes that the document names. The option `credential` decides what is sent. */
        readonly security: readonly string[]
        readonly refused?: undefined
      }
    | { readonly refused: string }
  )

/**
 * Makes a tool of each operation of an HTTP API. The document is OpenAPI 3.0 to 3.2 or Swagger 2.0, as JSON; `readOpenApi`
 * of `@x/openapi/node` reads a file. Nothing is sent before a call.
 *
 * @example
 * const tools = openApiTools(await readOpenApi('orders.yaml'), { url: 'https://api.example.com', credential })
 * const server = createServer({ name: 'orders', version: '1.0.0', tools })
 *
 * @throws OpenApiError for a value that is no such document, an address that must not be used, and for an operation that
 * is listed by name and is missing or cannot be a tool. TypeError for an unknown option.
 */
export function openApiTools(document: JsonObject, options: OpenApiOptions): Tool[] {
  const settings = resolveApiOptions(options, 'openApiTools')
  const log = createLog(settings.log, '@x/openapi')
  const api: Api = { settings, log, url: parseApiUrl(options.url) }
  const outcomes = planSelected(document, settings)
  const refused = outcomes.filter((outcome) => 'refused' in outcome && !outcome.operation.isDeprecated)
  if (refused.length > 0) log({ level: 'warn', code: 'operation_refused', message: describeRefused(refused) })
  return toDefinitions(outcomes, settings).map(({ name, plan }) => {
    const { definition } = describeDefinition(plan, settings)
    return tool(name, { ...definition, run: (args, ctx) => callOperation(plan, { api, args, ctx }) })
  })
}

/**
 * Describes the tools that {@link openApiTools} would make, and names the reason for each operation that becomes none.
 * Sends nothing, and needs no `url`.
 *
 * @throws OpenApiError and TypeError as `openApiTools` does.
 */
export function describeOpenApi(
  document: JsonObject,
  options: Partial<OpenApiOptions> = {},
): readonly PlannedOperation[] {
  const settings = resolveApiOptions({ url: '', ...options }, 'describeOpenApi')
  const outcomes = planSelected(document, settings)
  const described = new Map(
    toDefinitions(outcomes, settings).map(({ name, plan }) => {
      const { definition, listed } = describeDefinition(plan, settings)
      const warnings = findHostProblems([{ name, inputSchema: definition.input }]).map(({ message }) => message)
      const { operation, input, security } = plan
      const asks = settings.confirm(operation)
      const size = JSON.stringify({ name, ...listed }).length
      return [operation, { ...operation, name, size, cut: input.cut, asks, warnings, security }]
    }),
  )
  return outcomes.flatMap((outcome): PlannedOperation[] => {
    const planned = described.get(outcome.operation)
    if (planned !== undefined) return [planned]
    return 'refused' in outcome ? [{ ...outcome.operation, refused: outcome.refused }] : []
  })
}

const maxShownOperations = 5

function describeRefused(refused: readonly PlanOutcome[]): string {
  const shown = refused
    .slice(0, maxShownOperations)
    .map((outcome) => `${describePlace(outcome.operation)} ${reasonOf(outcome)}`)
  const more = refused.length > shown.length ? `; and ${refused.length - shown.length} more` : ''
  return `Operations that are no tools: ${shown.join('; ')}${more}`
}

function describePlace({ method, path }: OpenApiOperation): string {
  return `${method} ${path}`
}

function reasonOf(outcome: PlanOutcome): string {
  return 'refused' in outcome ? outcome.refused : ''
}

/** Plans the operations that the option `operations` selects, and throws for a listed one that cannot be a tool. */
function planSelected(document: JsonObject, settings: OpenApiSettings): readonly PlanOutcome[] {
  const { operations } = settings
  if (operations === undefined)
    return planDocument(document, settings, ({ isDeprecated }) => (isDeprecated ? 'is deprecated' : true))
  if (typeof operations === 'function') return planDocument(document, settings, operations)
  const missing = new Set(operations)
  const outcomes = planDocument(document, settings, (operation) => {
    const names = [operation.operationId, describePlace(operation)].filter((name) => name !== undefined)
    const found = names.filter((name) => operations.includes(name))
    for (const name of found) missing.delete(name)
    return found.length > 0
  })
  const [unknown] = missing
  if (unknown !== undefined)
    throw new OpenApiError(
      'operation',
      `operations has ${JSON.stringify(unknown)}, and the document has no such operation`,
    )
  const refused = outcomes.find((outcome) => 'refused' in outcome)
  if (refused === undefined) return outcomes
  throw new OpenApiError('operation', `${describePlace(refused.operation)} cannot be a tool: ${reasonOf(refused)}`)
}

interface NamedPlan {
  readonly name: string
  readonly plan: OperationPlan
}

/** Names the tools. Of two with the same name both get the digest, so that no name depends on the order. */
function toDefinitions(
  outcomes: readonly PlanOutcome[],
  { name: nameOf = nameTool }: OpenApiSettings,
): readonly NamedPlan[] {
  const plans = outcomes.flatMap((outcome) => ('plan' in outcome ? [outcome.plan] : []))
  const wanted = plans.map((plan): NamedPlan => ({ plan, name: nameOf(plan.operation) }))
  const counts = new Map<string, number>()
  for (const { name } of wanted) counts.set(name, (counts.get(name) ?? 0) + 1)
  const named = wanted.map(({ name, plan }) => ({
    plan,
    name: counts.get(name) === 1 ? name : withDigest(name, plan.operation),
  }))
  const owners = new Map(named.map(({ name, plan }) => [name, plan]))
  const hidden = named.find(({ name, plan }) => owners.get(name) !== plan)
  if (hidden === undefined) return named
  throw new OpenApiError('operation', `Two tools have the name ${hidden.name}: give one another with the option name`)
}

/** Returns the definition of a tool without its handler, and its members as `tools/list` has them. */
function describeDefinition(plan: OperationPlan, settings: OpenApiSettings) {
  const { operation, description, input, output } = plan
  const { task, visibleTo, annotations, idempotencyHeader } = settings
  const title = operation.summary === '' ? {} : { title: operation.summary }
  const hints = annotations?.(operation) ?? annotationsOf(operation)
  const shown = { ...title, description, annotations: hints }
  return {
    definition: {
      ...shown,
      input: input.schema,
      ...(output !== undefined && { output }),
      ...(task !== undefined && { task: task(operation) }),
      ...(visibleTo !== undefined && { visibleTo: visibleTo(operation) }),
      ...(idempotencyHeader !== undefined && !isReading(operation) && { keyedEffects: true }),
    },
    listed: { ...shown, inputSchema: input.schema, outputSchema: output },
  }
}

/** RFC 9110, section 9.2. Hosts assume the worst of what is not said, which is right for POST. */
function annotationsOf(operation: OpenApiOperation): ToolAnnotations {
  if (isReading(operation)) return { readOnlyHint: true }
  const { method } = operation
  const isIdempotent = method === 'PUT' || method === 'DELETE'
  return { ...(isIdempotent && { idempotentHint: true }), ...(method !== 'POST' && { destructiveHint: true }) }
}
