import { type Log, type LogRecord, requireSync } from '@x/core'
import { findSchemaProblem, type CallToolResult, type JsonObject, type JsonSchemaCompiler, type Tool } from '@x/schema'
import { type CallErrorContext, ClientError } from '../request/client-error.ts'

/** Checks the result of one tool. Throws {@link ClientError} `invalid_output`. */
export type OutputCheck = (result: CallToolResult, errorContext: CallErrorContext) => void

type CompiledOutputSchema = { readonly check: OutputCheck } | { readonly reason: string }

/**
 * Checks structured results (server/tools, output schema). Schemas come from the server, so each is checked before it
 * is compiled: its size is bounded, and no reference is fetched. None is compiled twice. Throws {@link ClientError}
 * `schema_refused` for an unusable schema, before anything is sent.
 */
export function createOutputCheckLookup(
  compiler: JsonSchemaCompiler,
  log: Log,
): (tool: Tool, errorContext: CallErrorContext) => OutputCheck | undefined {
  const compiledSchemas = new WeakMap<JsonObject, CompiledOutputSchema>()
  return (tool, errorContext) => {
    const { outputSchema } = tool
    if (!outputSchema) return undefined
    let entry = compiledSchemas.get(outputSchema)
    if (!entry) {
      entry = compileOutputSchema(outputSchema, compiler)
      compiledSchemas.set(outputSchema, entry)
      if ('reason' in entry) log(schemaRefusedRecord(tool, entry.reason))
    }
    if ('check' in entry) return entry.check
    throw new ClientError('schema_refused', `the tool's output schema cannot be used: ${entry.reason}`, errorContext)
  }
}

function schemaRefusedRecord({ name }: Tool, reason: string): LogRecord {
  const message = `the tool cannot be called, because its output schema cannot be used: ${reason}`
  return { level: 'warn', code: 'schema_refused', method: 'tools/call', name, message }
}

function compileOutputSchema(schema: JsonObject, compiler: JsonSchemaCompiler): CompiledOutputSchema {
  const schemaIssue = findSchemaProblem(schema)
  if (schemaIssue !== undefined) return { reason: schemaIssue }
  try {
    const validate = requireSync('outputSchemaCompiler', compiler(schema))
    return { check: (result, errorContext) => checkStructuredContent(validate, result, errorContext) }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : 'it does not compile' }
  }
}

function checkStructuredContent(
  validate: ReturnType<JsonSchemaCompiler>,
  result: CallToolResult,
  errorContext: CallErrorContext,
): void {
  // A failed call may omit structured content.
  if (result.isError === true) return
  if (result.structuredContent === undefined) {
    throw new ClientError(
      'invalid_output',
      'the tool has an output schema, but the result has no structuredContent',
      errorContext,
    )
  }
  const [issue] = requireSync('The check of outputSchemaCompiler', validate(result.structuredContent))
  if (!issue) return
  const location = issue.path === '' ? 'structuredContent' : `structuredContent ${issue.path}`
  throw new ClientError(
    'invalid_output',
    `${location} does not match the output schema: ${issue.message}`,
    errorContext,
  )
}
