import type { PublishedSchema } from '@tooling/spec'
import { definitions, definitionNameOf, validatorName } from './published.ts'

const fileHeader = `// biome-ignore-all format: generated from the published schema by published-types.ts
import type { Of } from './published.ts'

/** The published types. What another definition describes is the type of its shape. */
export interface PublishedTypes {
`

/** Makes TypeScript code that declares every definition. */
export function renderPublishedTypes(): string {
  const rows = Object.entries(definitions).map(
    ([name, schema]) => `  ${validatorName(name)}: ${renderType(schema, isMetaName(name))}`,
  )
  return `${fileHeader}${rows.join('\n')}\n}\n`
}

function typeOf(definition: string): string {
  return `Of<'${validatorName(definition)}'>`
}

/**
 * A `_meta` allows other members in TypeScript. The JSON Schema does not show it, because it allows them in every
 * object.
 */
function isMetaName(name: string): boolean {
  return name.endsWith('MetaObject')
}

function renderType(schema: PublishedSchema, open = false): string {
  if (schema.$ref !== undefined) return typeOf(definitionNameOf(schema.$ref))
  if (schema.anyOf !== undefined) return schema.anyOf.map((member) => renderType(member)).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map((member) => renderType(member)).join(' & ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.type === undefined) return typeOf('JSONValue')
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  return types.map((type) => renderPrimitiveType(type, schema, open)).join(' | ')
}

function renderPrimitiveType(type: string, schema: PublishedSchema, open: boolean): string {
  if (type === 'integer') return 'number'
  if (type === 'array') return `readonly (${renderType(schema.items ?? {})})[]`
  return type === 'object' ? renderObjectType(schema, open) : type
}

function renderObjectType(schema: PublishedSchema, open: boolean): string {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length === 0 && schema.additionalProperties === undefined) return typeOf('JSONObject')
  const fields = properties.map(([name, property]) => renderField(name, property, schema.required ?? []))
  const others = open ? {} : schema.additionalProperties
  if (others !== undefined) fields.push(`readonly [key: string]: ${renderIndexSignature(others)}`)
  return `{ ${fields.join('; ')} }`
}

function renderField(name: string, schema: PublishedSchema, required: readonly string[]): string {
  // The JSON Schema allows any string as `resultType`. The TypeScript type names the known values.
  const type = name === 'resultType' ? typeOf('ResultType') : renderType(schema)
  return required.includes(name)
    ? `readonly ${JSON.stringify(name)}: ${type}`
    : `readonly ${JSON.stringify(name)}?: ${type} | undefined`
}

// A key of a `JsonObject` may be absent, so reading it may give undefined.
function renderIndexSignature(schema: PublishedSchema): string {
  const type = renderType(schema)
  return type === typeOf('JSONValue') ? `${type} | undefined` : type
}
