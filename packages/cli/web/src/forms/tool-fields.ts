import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { labelFromName } from '@x/client/forms'
import { type Draft, emptyDraft, type Field, type FieldKind, type Option } from './field.ts'

/**
 * Returns the fields for a tool's arguments. The schema may be any JSON Schema (server/tools, input schema). An
 * argument without a matching field kind is written as JSON.
 */
export function toolFields(inputSchema: JsonObject): readonly Field[] {
  const properties = objectIn(inputSchema, 'properties') ?? {}
  const required = new Set(listIn(inputSchema, 'required'))
  return Object.entries(properties).map(([name, property]) => {
    const schema = isJsonObject(property) ? property : {}
    const kind = kindOfSchema(schema)
    return {
      name,
      label: textIn(schema, 'title') ?? labelFromName(name),
      description: textIn(schema, 'description'),
      required: required.has(name),
      kind,
      initial: draftOf(schema['default'], kind),
    }
  })
}

function kindOfSchema(schema: JsonObject): FieldKind {
  const options = optionsOf(schema)
  if (options !== undefined) return { type: 'choice', options }
  switch (schema['type']) {
    case 'string':
      return { type: 'text', minLength: numberIn(schema, 'minLength'), maxLength: numberIn(schema, 'maxLength') }
    case 'integer':
    case 'number':
      return {
        type: 'number',
        whole: schema['type'] === 'integer',
        minimum: numberIn(schema, 'minimum'),
        maximum: numberIn(schema, 'maximum'),
      }
    case 'boolean':
      return { type: 'flag' }
    case 'array':
      return listKind(schema)
    case 'object':
      return isEntriesSchema(schema) ? { type: 'entries' } : { type: 'json' }
    default:
      return { type: 'json' }
  }
}

function listKind(schema: JsonObject): FieldKind {
  const items = objectIn(schema, 'items') ?? {}
  const options = optionsOf(items)
  if (options === undefined) return { type: 'json' }
  return { type: 'choices', options, minItems: numberIn(schema, 'minItems'), maxItems: numberIn(schema, 'maxItems') }
}

/** Returns true if an object has arbitrary keys, and values that fit into one line. */
function isEntriesSchema(schema: JsonObject): boolean {
  const values = objectIn(schema, 'additionalProperties')
  if (values === undefined || objectIn(schema, 'properties') !== undefined) return false
  const choices = values['anyOf']
  const types = Array.isArray(choices)
    ? choices.map((one) => (isJsonObject(one) ? one['type'] : undefined))
    : [values['type']]
  return types.includes('string')
}

function optionsOf(schema: JsonObject): readonly Option[] | undefined {
  const listed = schema['enum']
  if (Array.isArray(listed)) {
    const texts = listed.filter((value) => typeof value === 'string')
    return texts.length === listed.length ? texts.map((value) => ({ value, label: value })) : undefined
  }
  const titled = schema['oneOf'] ?? schema['anyOf']
  if (!Array.isArray(titled)) return undefined
  const options = titled.flatMap(titledOption)
  return options.length > 0 && options.length === titled.length ? options : undefined
}

function titledOption(option: JsonValue): readonly Option[] {
  const value = isJsonObject(option) ? option['const'] : undefined
  if (!isJsonObject(option) || typeof value !== 'string') return []
  return [{ value, label: textIn(option, 'title') ?? value }]
}

/** Returns the input that stands for a value. */
export function draftOf(given: JsonValue | undefined, kind: FieldKind): Draft {
  if (given === undefined) return emptyDraft(kind)
  switch (kind.type) {
    case 'flag':
      return given === true
    case 'choices':
      return Array.isArray(given) ? given.filter((value) => typeof value === 'string') : []
    case 'entries':
      return isJsonObject(given) ? toEntries(given) : emptyDraft(kind)
    case 'json':
      return JSON.stringify(given)
    default:
      return String(given)
  }
}

/** An empty value is written `""`, as `readEntries` reads it. */
function toEntries(given: JsonObject): Draft {
  return Object.entries(given).map(([name, value]) => ({ name, value: value === '' ? '""' : String(value) }))
}

function objectIn(schema: JsonObject, name: string): JsonObject | undefined {
  const value = schema[name]
  return isJsonObject(value) ? value : undefined
}

function listIn(schema: JsonObject, name: string): readonly JsonValue[] {
  const value = schema[name]
  return Array.isArray(value) ? value : []
}

function textIn(schema: JsonObject, name: string): string | undefined {
  const value = schema[name]
  return typeof value === 'string' ? value : undefined
}

function numberIn(schema: JsonObject, name: string): number | undefined {
  const value = schema[name]
  return typeof value === 'number' ? value : undefined
}
