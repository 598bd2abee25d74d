import { createLog, type JsonObject, type Log } from '@x/core'
import type { ToolAnnotations } from '@x/schema'
import { findHostProblems, type Tool, tool } from '@x/server'
import type { SchemaCut } from './document/assemble-schema.ts'
import { callOperation } from './call/call-operation.ts'
import { nameTool, addDigest } from './plan/name-tool.ts'
import { OpenApiError } from './document/open-api-error.ts'
import type { OpenApiOperation, OpenApiOptions, OpenApiSettings } from './plan/options.ts'
import { parseApiUrl, resolveApiOptions } from './plan/options.ts'
import { type OperationPlan, planDocument, type PlanOutcome } from './plan/plan-operation.ts'
import type { Api } from './call/send-request.ts'
import { isReading } from './document/open-document.ts'

/** An operation of a document, with the tool that it becomes or the reason why it becomes none. */
export type PlannedOperation = OpenApiOperation &
  (
    | {
        /** Name of the tool. */
        readonly name: string
        /** Characters of the tool in the list. */
        readonly size: number
        /** What was left out of the schema of its arguments. Undefined if nothing was. */
        readonly cut: SchemaCut | undefined
        /** A call asks the user first. */
        readonly asks: boolean
        /** What known hosts refuse or drop. */
        readonly warnings: readonly string[]
        /** Schemes and scopes that the document names. The option `credential` decides what is sent. */
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
  logRefused(outcomes, log)
  return nameTools(outcomes, settings).map(([name, plan]) =>
    tool(name, { ...defineTool(plan, settings), run: (args, ctx) => callOperation(plan, { api, args, ctx }) }),
  )
}

/**
 * Describes the tools that {@link openApiTools} would make, with the reason for each operation that becomes none. Sends
 * nothing, and needs no `url`.
 *
 * @throws OpenApiError and TypeError as `openApiTools` does.
 */
export function describeOpenApi(
  document: JsonObject,
  options: Partial<OpenApiOptions> = {},
): readonly PlannedOperation[] {
  const settings = resolveApiOptions({ url: '', ...options }, 'describeOpenApi')
  const outcomes = planSelected(document, settings)
  const planned = new Map(
    nameTools(outcomes, settings).map(([name, plan]) => {
      const { input: inputSchema, output: outputSchema, title, description, annotations } = defineTool(plan, settings)
      const warnings = findHostProblems([{ name, inputSchema }]).map(({ message }) => message)
      const { operation, input, security } = plan
      const size = JSON.stringify({ name, title, description, annotations, inputSchema, outputSchema }).length
      const asks = settings.confirm(operation)
      return [operation, { ...operation, name, size, cut: input.cut, asks, warnings, security }]
    }),
  )
  return outcomes.flatMap(({ operation, refused }): PlannedOperation | [] =>
    refused === undefined ? (planned.get(operation) ?? []) : { ...operation, refused },
  )
}

const maxShownOperations = 5

function logRefused(outcomes: readonly PlanOutcome[], log: Log): void {
  const lines = outcomes.flatMap(({ operation, refused }) =>
    refused === undefined || operation.isDeprecated ? [] : [`${describePlace(operation)} ${refused}`],
  )
  if (lines.length === 0) return
  const more = lines.length > maxShownOperations ? `; and ${lines.length - maxShownOperations} more` : ''
  const message = `Operations that are not tools: ${lines.slice(0, maxShownOperations).join('; ')}${more}`
  log({ level: 'warn', code: 'operation_refused', message })
}

function describePlace({ method, path }: OpenApiOperation): string {
  return `${method} ${path}`
}

/** Throws for an operation that the option `operations` lists and that cannot be a tool. */
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
  const failed = outcomes.find(({ refused }) => refused !== undefined)
  if (failed === undefined) return outcomes
  throw new OpenApiError('operation', `${describePlace(failed.operation)} cannot be a tool: ${failed.refused}`)
}

/** Of two tools with the same name both get the digest, so that no name depends on the order. */
function nameTools(
  outcomes: readonly PlanOutcome[],
  { name: nameOf = nameTool }: OpenApiSettings,
): readonly (readonly [name: string, plan: OperationPlan])[] {
  const plans = outcomes.flatMap(({ plan }) => plan ?? [])
  const wanted = plans.map(({ operation }) => nameOf(operation))
  const repeated = new Set(wanted.filter((name, index) => wanted.indexOf(name) !== index))
  const names = plans.map(({ operation }, index) => {
    const name = wanted[index] ?? ''
    return repeated.has(name) ? addDigest(name, operation) : name
  })
  const hidden = names.find((name, index) => names.indexOf(name) !== index)
  if (hidden === undefined) return plans.map((plan, index) => [names[index] ?? '', plan])
  throw new OpenApiError('operation', `Two tools have the name ${hidden}: give one another with the option name`)
}

function defineTool({ operation, description, input, output }: OperationPlan, settings: OpenApiSettings) {
  const { task, visibleTo, annotations = hintsOf, idempotencyHeader } = settings
  return {
    ...(operation.summary !== '' && { title: operation.summary }),
    description,
    annotations: annotations(operation),
    input: input.schema,
    ...(output !== undefined && { output }),
    ...(task !== undefined && { task: task(operation) }),
    ...(visibleTo !== undefined && { visibleTo: visibleTo(operation) }),
    ...(idempotencyHeader !== undefined && !isReading(operation) && { keyedEffects: true }),
  }
}

/** RFC 9110, section 9.2. Hosts assume the worst of what is not said, which is right for POST. */
function hintsOf(operation: OpenApiOperation): ToolAnnotations {
  if (isReading(operation)) return { readOnlyHint: true }
  const { method } = operation
  const isIdempotent = method === 'PUT' || method === 'DELETE'
  return { ...(isIdempotent && { idempotentHint: true }), ...(method !== 'POST' && { destructiveHint: true }) }
}
