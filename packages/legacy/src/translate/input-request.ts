import { type InputRequest, isJsonObject, type JsonObject, type JsonValue, type RpcRequest } from '@x/schema'
import { type LegacyRevision, revisionFeaturesOf } from './revisions.ts'

/** A question in the form of an older revision, or the capability that the client lacks for it. */
export type LegacyInputRequest =
  | { readonly request: Pick<RpcRequest, 'method' | 'params'> }
  | { readonly missingCapabilities: JsonObject }

/**
 * Converts an input request of a server to a request of an older revision. `elicitationId` is added to a request for a
 * URL (client/elicitation).
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
  const features = revisionFeaturesOf(revision)
  if (params.mode === 'url') {
    if (!features.hasUrlElicitation) return { missingCapabilities: { elicitation: { url: {} } } }
    return { request: { method, params: { ...params, elicitationId } } }
  }
  const { mode: _mode, requestedSchema, ...rest } = params
  if (features.hasRichForms) return { request: { method, params: { ...rest, requestedSchema } } }
  const schema = toPlainForm(requestedSchema)
  if (schema === undefined)
    return { missingCapabilities: { elicitation: { form: { 'choices of several values': {} } } } }
  return { request: { method, params: { ...rest, requestedSchema: schema } } }
}

/**
 * Converts the schema of a form to 2025-06-18, where titles of choices are in `enumNames`, and only boolean fields have
 * a default. Undefined if the form has a choice of several values.
 */
function toPlainForm(schema: JsonObject): JsonObject | undefined {
  const { properties, $schema: _dialect, ...rest } = schema
  if (!isJsonObject(properties)) return schema
  const fields: [string, JsonObject][] = []
  for (const [name, field] of Object.entries(properties)) {
    if (!isJsonObject(field) || field['type'] === 'array') return undefined
    fields.push([name, toPlainField(field)])
  }
  return { ...rest, properties: Object.fromEntries(fields) }
}

function toPlainField(field: JsonObject): JsonObject {
  const { default: defaultValue, oneOf, ...rest } = field
  const choices = Array.isArray(oneOf) ? oneOf.filter((choice: JsonValue) => isJsonObject(choice)) : undefined
  return {
    ...rest,
    ...(field['type'] === 'boolean' && defaultValue !== undefined && { default: defaultValue }),
    ...(choices && {
      enum: choices.map((choice) => choice['const'] ?? ''),
      enumNames: choices.map((choice) => choice['title'] ?? ''),
    }),
  }
}

/** Splits each message with several content blocks, because a message of older revisions has only one block. */
function toLegacySamplingParams(params: JsonObject, revision: LegacyRevision): JsonObject {
  const { messages } = params
  if (revisionFeaturesOf(revision).hasSamplingTools || !Array.isArray(messages)) return params
  const singleBlockMessages = messages.flatMap((message: JsonValue): JsonValue[] => {
    if (!isJsonObject(message)) return [message]
    const { content } = message
    return Array.isArray(content) ? content.map((block: JsonValue) => ({ ...message, content: block })) : [message]
  })
  return { ...params, messages: singleBlockMessages }
}
