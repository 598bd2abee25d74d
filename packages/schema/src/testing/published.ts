import { type PublishedSchema, readSchema } from '@tooling/spec'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type * as z from 'zod/mini'
import { zodOf } from '../basic/zod-of.ts'
import type { Shape } from '../basic/shape.ts'
import * as exportedShapes from '../published-shapes.ts'
import * as clientMessages from './client-messages.ts'
import * as errors from './errors.ts'
import * as wholeNotifications from './whole-notifications.ts'
import * as wholeRequests from './whole-requests.ts'
import * as wholeResponses from './whole-responses.ts'

type Definitions = { readonly [name: string]: PublishedSchema }

const shapes = {
  ...exportedShapes,
  ...clientMessages,
  ...errors,
  ...wholeNotifications,
  ...wholeRequests,
  ...wholeResponses,
}

/** Shapes of all published types: those that are exported, and those that only tests compare. */
type PublishedShapes = typeof shapes

export type Of<Name extends keyof PublishedShapes> = PublishedShapes[Name] extends Shape<infer T> ? T : never

/** Validators by the name of the type in lower camel case. */
export const validators: ReadonlyMap<string, z.ZodMiniType> = new Map(
  Object.entries(shapes).map(([name, shape]) => [name, zodOf(shape as Shape<unknown>)]),
)

/** Definitions of the published JSON Schema, unchanged. */
export const publishedDefinitions: Definitions = readSchema().$defs

/**
 * Definitions of the published JSON Schema, corrected. They are generated from the specification's TypeScript, which is
 * the source of truth. The generator reads `number` in a union with `boolean` as `integer`, and drops `null`.
 */
export const definitions: Definitions = {
  ...publishedDefinitions,
  JSONValue: { anyOf: [...(publishedDefinitions['JSONValue']?.anyOf ?? []), { type: ['number', 'null'] }] },
  ElicitResult: withContent({
    anyOf: [{ items: { type: 'string' }, type: 'array' }, { type: ['string', 'number', 'boolean'] }],
  }),
}

function withContent(field: PublishedSchema): PublishedSchema {
  const { ElicitResult } = publishedDefinitions
  return {
    ...ElicitResult,
    properties: { ...ElicitResult?.properties, content: { type: 'object', additionalProperties: field } },
  }
}

// `Request` and `Response` always mean the Web types here, and `Error` the JavaScript class, so JSON-RPC types have
// other names.
const namesByDefinition = new Map([
  ['Error', 'WireError'],
  ['JSONArray', 'JsonArray'],
  ['JSONObject', 'JsonObject'],
  ['JSONRPCErrorResponse', 'RpcError'],
  ['JSONRPCMessage', 'RpcMessage'],
  ['JSONRPCNotification', 'RpcNotification'],
  ['JSONRPCRequest', 'RpcRequest'],
  ['JSONRPCResponse', 'RpcResponse'],
  ['JSONRPCResultResponse', 'RpcResult'],
  ['JSONValue', 'JsonValue'],
  ['Notification', 'RpcNotificationFields'],
  ['Request', 'RpcRequestFields'],
])

function typeName(definition: string): string {
  return namesByDefinition.get(definition) ?? definition
}

export function validatorName(definition: string): string {
  const name = typeName(definition)
  return name.charAt(0).toLowerCase() + name.slice(1)
}

export function validatorOf(definition: string): z.ZodMiniType {
  const validator = validators.get(validatorName(definition))
  if (validator === undefined) throw new Error(`no validator ${validatorName(definition)} is in published.ts`)
  return validator
}

export function definitionNameOf(reference: string): string {
  return reference.slice('#/$defs/'.length)
}

/** True if the value is valid for the definition. */
export type SchemaPredicate = (definition: string, value: unknown) => boolean

/** Checks formats only if `options.formats` is true. */
export function createSchemaPredicate($defs: Definitions, options: { formats: boolean }): SchemaPredicate {
  const ajv = new Ajv2020({ strict: false, validateFormats: options.formats })
  if (options.formats) formats.default(ajv)
  ajv.addSchema({ $id: 'published', $defs })
  return (definition, value) => ajv.validate(`published#/$defs/${definition}`, value)
}
