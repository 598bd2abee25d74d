import { quoteText } from '@x/core'
import {
  type ClientCapabilities,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type RpcRequest,
} from '@x/schema'
import { choicesOf } from '@x/schema/internal'
import { definesCapability } from './capabilities.ts'
import { type LegacyRevision, revisionFeaturesOf } from './revisions.ts'

/** A question in an older revision's form, or what the revision lacks for it. */
export type LegacyInputRequest =
  | { readonly request: Pick<RpcRequest, 'method' | 'params'> }
  | { readonly unsupported: string }

/**
 * Converts a server's input request for an older revision, and gives one for a URL its `elicitationId`
 * (client/elicitation). The client has declared the request's kind, so the revision decides about its form only.
 */
export function toLegacyInputRequest(
  request: InputRequest,
  revision: LegacyRevision,
  elicitationId: string,
): LegacyInputRequest {
  if (request.method === 'roots/list') return { request: { method: request.method } }
  if (request.method === 'sampling/createMessage') {
    return { request: { method: request.method, params: toLegacySamplingParams(request.params, revision) } }
  }
  const { method, params } = request
  if (params.mode === 'url') return { request: { method, params: { ...params, elicitationId } } }
  const { mode: _mode, requestedSchema, ...rest } = params
  const mode = definesCapability(revision, 'elicitation.form') ? { mode: 'form' } : {}
  if (revisionFeaturesOf(revision).hasRichForms)
    return { request: { method, params: { ...mode, ...rest, requestedSchema } } }
  const form = toPlainForm(requestedSchema)
  if ('unsupported' in form) return form
  return { request: { method, params: { ...mode, ...rest, requestedSchema: form.schema } } }
}

/** The capabilities that a client needs for a question. Undefined for a method that is no question. */
export function requiredCapabilitiesOf(method: string, params: JsonObject = {}): ClientCapabilities | undefined {
  if (method === 'roots/list') return { roots: {} }
  if (method === 'elicitation/create') return { elicitation: params['mode'] === 'url' ? { url: {} } : { form: {} } }
  if (method !== 'sampling/createMessage') return undefined
  const hasTools = params['tools'] !== undefined || params['toolChoice'] !== undefined
  return { sampling: hasTools ? { tools: {} } : {} }
}

/**
 * Converts a form's schema to 2025-06-18, where titles of choices are in `enumNames`, and only boolean fields have a
 * default. A field with several values cannot be converted.
 */
function toPlainForm(schema: JsonObject): { readonly schema: JsonObject } | { readonly unsupported: string } {
  const { properties, $schema: _dialect, ...rest } = schema
  if (!isJsonObject(properties)) return { schema }
  const fields: [string, JsonObject][] = []
  for (const [name, field] of Object.entries(properties)) {
    if (!isJsonObject(field) || field['type'] === 'array')
      return { unsupported: `a form whose field ${quoteText(name)} takes several values` }
    fields.push([name, toPlainField(field)])
  }
  return { schema: { ...rest, properties: Object.fromEntries(fields) } }
}

function toPlainField(field: JsonObject): JsonObject {
  const { default: defaultValue, oneOf, ...rest } = field
  const choices = choicesOf({ oneOf })
  return {
    ...rest,
    ...(field['type'] === 'boolean' && defaultValue !== undefined && { default: defaultValue }),
    ...(choices && { enum: choices.map(({ value }) => value), enumNames: choices.map(({ label }) => label) }),
  }
}

/**
 * Splits each message with several content blocks, because a message has only one block before sampling with tools was
 * defined. A client that declared tools earlier has them, and takes a call and its result together.
 */
function toLegacySamplingParams(params: JsonObject, revision: LegacyRevision): JsonObject {
  const { messages, tools } = params
  if (definesCapability(revision, 'sampling.tools') || tools !== undefined || !Array.isArray(messages)) return params
  const singleBlockMessages = messages.flatMap((message: JsonValue): JsonValue[] => {
    if (!isJsonObject(message)) return [message]
    const { content } = message
    return Array.isArray(content) ? content.map((block: JsonValue) => ({ ...message, content: block })) : [message]
  })
  return { ...params, messages: singleBlockMessages }
}
