import { quoteText } from '@x/core'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PrimitiveSchemaDefinition,
  type RequestedSchema,
} from '@x/schema'
import { compileMultiSelect, compileSingleSelect } from './choice-fields.ts'
import {
  rejectOtherKeywords,
  requireTextLength,
  definitionsOf,
  type Field,
  maxLabelLength,
  freezeDefinedMembers,
  fieldError,
  resolveField,
} from './field.ts'
import { isChoice, nullAdvice } from './choice-options.ts'
import { compileBooleanField, compileNumberField, compileTextField } from './plain-fields.ts'

/** More fields than a person fills in at one time. */
const maxProperties = 100

/**
 * Reduces a JSON Schema to the protocol's restricted form (client/elicitation, requested schema), frozen and with
 * references resolved. What a client does not need is omitted: a pattern beside a format, `$schema`, a boolean
 * `additionalProperties`, and bounds of safe integers.
 *
 * Throws `DefinitionError` (`schema`) with the given subject, the property and what is allowed.
 */
export function requestedSchemaOf(jsonSchema: JsonObject, errorSubject: string): RequestedSchema {
  const { root, fields } = resolveFields(jsonSchema, errorSubject)
  const properties = [...fields].map(([name, field]) => [name, compilePrimitive(field)] as const)
  return freezeDefinedMembers<RequestedSchema>({
    type: 'object',
    // `fromEntries` defines its keys, so that a property with the name `__proto__` stays a property.
    properties: Object.freeze(Object.fromEntries(properties)),
    required: requiredNamesOf(root, new Set(fields.keys())),
  })
}

export function resolveFields(
  jsonSchema: JsonObject,
  errorSubject: string,
): { readonly root: Field; readonly fields: ReadonlyMap<string, Field> } {
  const definitions = definitionsOf(jsonSchema)
  const { $schema: _schema, $defs: _defs, definitions: _definitions, ...bare } = jsonSchema
  const root = resolveField({ schema: bare, location: 'the schema', errorSubject, definitions })
  checkRoot(root)
  const entries = Object.entries(fieldPropertiesOf(root))
  return { root, fields: new Map(entries.map(([name, schema]) => [name, resolveProperty(root, name, schema)])) }
}

function checkRoot(root: Field): void {
  const { type, additionalProperties: extraProperties } = root.schema
  if (type !== 'object')
    throw fieldError(root, 'a form must be one object, as z.object({ … }) is, and no union of several')
  if (typeof root.schema['title'] === 'string' || typeof root.schema['description'] === 'string') {
    throw fieldError(root, 'a form has no title or description of its own; say it in the message of the question')
  }
  rejectOtherKeywords(root, 'a form', ['type', 'properties', 'required', 'additionalProperties'])
  if (extraProperties === undefined || typeof extraProperties === 'boolean') return
  if (isJsonObject(extraProperties) && Object.keys(extraProperties).length === 0) return
  throw fieldError(root, 'a form has no fields but the ones that it names; "additionalProperties" can be true or false')
}

function fieldPropertiesOf(root: Field): JsonObject {
  const { properties = {} } = root.schema
  if (!isJsonObject(properties)) throw fieldError(root, '"properties" must be an object')
  const count = Object.keys(properties).length
  if (count <= maxProperties) return properties
  throw fieldError(
    root,
    `a form has at most ${maxProperties} properties, and this has ${count}; ask in several questions`,
  )
}

function requiredNamesOf(root: Field, propertyNames: ReadonlySet<string>): readonly string[] | undefined {
  const { required = [] } = root.schema
  if (!Array.isArray(required)) throw fieldError(root, '"required" must be an array')
  const knownNames = required.filter((name) => typeof name === 'string' && propertyNames.has(name))
  if (knownNames.length < required.length) throw fieldError(root, '"required" names what is not among the properties')
  return knownNames.length === 0 ? undefined : Object.freeze(knownNames.map(String))
}

function resolveProperty(root: Field, name: string, schema: JsonValue = null): Field {
  const field = { ...root, location: `property ${quoteText(name)}` }
  requireTextLength(field, name, { textName: 'its name', maxTextLength: maxLabelLength })
  if (name === '') throw fieldError(field, 'it needs a name')
  if (!isJsonObject(schema)) throw fieldError(field, `its schema is ${quoteText(schema)}; ${propertyAdvice}`)
  return resolveField({ ...field, schema })
}

const propertyAdvice = 'a property is a string, a number, an integer, a boolean, or a choice of one or several strings'

function compilePrimitive(field: Field): PrimitiveSchemaDefinition {
  const { type } = field.schema
  if (Array.isArray(type))
    throw fieldError(field, type.includes('null') ? nullAdvice : `it is of several types; ${propertyAdvice}`)
  if (type === 'array') return compileMultiSelect(field)
  if (isChoice(field)) return compileSingleSelect(field)
  if (type === 'string') return compileTextField(field)
  if (type === 'number' || type === 'integer') return compileNumberField(field, type)
  if (type === 'boolean') return compileBooleanField(field)
  throw fieldError(field, `${typeProblems.get(type) ?? 'it has no type that a form can have'}; ${propertyAdvice}`)
}

const typeProblems: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['object', 'a form has no objects within it: give their properties to the form itself, or ask in several questions'],
  ['null', 'no field of a form is always null'],
])
