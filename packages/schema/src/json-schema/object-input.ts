import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { findSchemaProblem } from './check-schema.ts'
import { resolveReference, withoutRootReference } from './schema-references.ts'

/** A schema of arguments as clients see it: one object, without a union or a reference at its root. */
export interface ObjectInput {
  readonly jsonSchema: JsonObject
  /** Sets of arguments of a union, as a sentence for the model. Undefined for a schema that is no union. */
  readonly alternatives: string | undefined
}

/**
 * Makes one object of a schema of arguments: model APIs refuse a union at the root, with every tool of the session. The
 * object has the properties of all members, and requires what all members require. It accepts more than the schema, by
 * which a server still validates.
 *
 * A text is the problem of a schema, or of a member of its union, that accepts something else than objects
 * (server/tools, tool), or of a union that takes too much work.
 */
export function toObjectInput(schema: JsonObject): ObjectInput | string {
  const root = withoutRootReference(schema)
  // The author of an object with conditions beside its properties means it so, and hosts keep them (SEP-2106).
  if (root['type'] === 'object' || !compositionKeywords.some((keyword) => Object.hasOwn(root, keyword)))
    return root['type'] === 'object' ? { jsonSchema: root, alternatives: undefined } : notAnObject
  return flattenObjectInput(root, schema)
}

/**
 * Makes one object without conditions of one whose root has some beside its properties, as {@link toObjectInput} does
 * with a union. A host does this for a model API that refuses what its server lists.
 */
export function flattenObjectInput(root: JsonObject, document: JsonObject = root): ObjectInput | string {
  const context: SchemaContext = { document, isObject: false, search: { work: 0, problem: undefined } }
  const alternatives = alternativesOf(root, context)
  const jsonSchema = { ...annotationsOf(root), type: 'object', ...toSchemaMembers(unionOf(alternatives, context)) }
  if (context.search.problem !== undefined) return context.search.problem
  const problem = findSchemaProblem(jsonSchema)
  if (problem !== undefined) return `it is served as one object, and ${problem}; write what is referred to under $defs`
  return { jsonSchema, alternatives: describeAlternatives(alternatives) }
}

const notAnObject =
  'the root of the JSON Schema must have "type": "object" or be a union of such schemas; put other values in a property'

const compositionKeywords = ['anyOf', 'oneOf', 'allOf', '$ref'] as const

interface Alternative {
  readonly properties: ReadonlyMap<string, JsonValue>
  readonly required: ReadonlySet<string>
  readonly additionalProperties: JsonValue | undefined
  readonly description: string | undefined
}

interface SchemaContext {
  readonly document: JsonObject
  readonly isObject: boolean
  /** Grows with the schemas that are read and the characters that are compared, until the first problem. */
  readonly search: { work: number; problem: string | undefined }
}

/** References can repeat a schema exponentially often, so the work of a union is limited. */
const maxWork = 2_000_000
const workOfSchema = 500

function spend({ search }: SchemaContext, work: number): boolean {
  search.work += work
  if (search.work > maxWork) search.problem ??= 'its union has too many members'
  return search.problem === undefined
}

/** Beyond it, alternatives are combined, because their combinations grow without bound. */
const maxAlternatives = 64

function alternativesOf(schema: JsonObject, context: SchemaContext): readonly Alternative[] {
  const { type } = schema
  const hasComposition = compositionKeywords.some((keyword) => Object.hasOwn(schema, keyword))
  const mustBeObject = type !== undefined || (!hasComposition && !context.isObject && !namesMembers(schema))
  if (mustBeObject && type !== 'object') context.search.problem ??= notAnObject
  if (!spend(context, workOfSchema)) return []
  const memberContext = { ...context, isObject: context.isObject || type === 'object' }
  const target = resolveReference(schema, context.document)
  const intersected = [...(target === undefined ? [] : [target]), ...schemasOf(schema['allOf'])]
  const parts = [
    ...intersected.map((member) => alternativesOf(member, memberContext)),
    ...[schema['anyOf'], schema['oneOf']].flatMap((members) => {
      const union = schemasOf(members).flatMap((member) => alternativesOf(member, memberContext))
      return union.length === 0 ? [] : [union]
    }),
  ]
  return parts.reduce((left, right) => combine(left, right, context), [readAlternative(schema)])
}

// A schema such as { required: ['a'] } restricts an object, although it also accepts what is no object.
function namesMembers(schema: JsonObject): boolean {
  return Object.hasOwn(schema, 'properties') || Object.hasOwn(schema, 'required')
}

function schemasOf(members: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(members)) return []
  return members.flatMap((member): JsonObject[] => (isJsonObject(member) ? [member] : member === true ? [{}] : []))
}

function readAlternative(schema: JsonObject): Alternative {
  const { properties, required, additionalProperties, patternProperties, description } = schema
  return {
    properties: new Map(
      Object.entries(isJsonObject(properties) ? properties : {}).map(([name, form]) => [name, form ?? {}]),
    ),
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    additionalProperties: patternProperties === undefined ? additionalProperties : true,
    description: typeof description === 'string' ? description : undefined,
  }
}

/** Accepts what an alternative of each list accepts. */
function combine(
  left: readonly Alternative[],
  right: readonly Alternative[],
  context: SchemaContext,
): readonly Alternative[] {
  if (left.length * right.length > maxAlternatives)
    return [intersectionOf(unionOf(left, context), unionOf(right, context), context)]
  return left.flatMap((one) => right.map((other) => intersectionOf(one, other, context)))
}

function intersectionOf(left: Alternative, right: Alternative, context: SchemaContext): Alternative {
  const names = new Set([...left.properties.keys(), ...right.properties.keys()])
  return {
    properties: new Map(
      [...names].map((name) => [name, joinForms('allOf', [left, right].flatMap(formsOf(name)), context)]),
    ),
    required: new Set([...left.required, ...right.required]),
    additionalProperties: left.additionalProperties ?? right.additionalProperties,
    description: right.description ?? left.description,
  }
}

function unionOf(alternatives: readonly Alternative[], context: SchemaContext): Alternative {
  const [first, ...others] = alternatives
  if (first === undefined || others.length === 0) return first ?? readAlternative({})
  const names = new Set(alternatives.flatMap(({ properties }) => [...properties.keys()]))
  const isSame = new Set(alternatives.map((one) => textOf(one.additionalProperties, context))).size === 1
  return {
    properties: new Map(
      [...names].map((name) => [name, joinForms('anyOf', alternatives.flatMap(formsOf(name)), context)]),
    ),
    required: new Set([...first.required].filter((name) => others.every(({ required }) => required.has(name)))),
    additionalProperties: isSame ? first.additionalProperties : undefined,
    description: undefined,
  }
}

function formsOf(name: string): (alternative: Alternative) => readonly JsonValue[] {
  return ({ properties, additionalProperties }) => {
    const form = properties.get(name) ?? (isJsonObject(additionalProperties) ? additionalProperties : undefined)
    return form === undefined ? [] : [form]
  }
}

function joinForms(keyword: 'allOf' | 'anyOf', forms: readonly JsonValue[], context: SchemaContext): JsonValue {
  const [first = {}, ...others] = new Set(forms)
  if (others.length === 0) return first
  const formsByText = new Map([first, ...others].map((form) => [textOf(form, context), form]))
  return formsByText.size === 1 ? first : { [keyword]: [...formsByText.values()] }
}

function textOf(form: JsonValue | undefined, context: SchemaContext): string {
  if (form === undefined || !spend(context, 1)) return ''
  const text = JSON.stringify(form)
  spend(context, text.length)
  return text
}

function toSchemaMembers({ properties, required, additionalProperties }: Alternative): JsonObject {
  return {
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
    ...(additionalProperties !== undefined && { additionalProperties }),
  }
}

/** Members of a root that describe it or are referred to. What restricts its values is written anew. */
function annotationsOf({ $schema, $defs, definitions, title, description }: JsonObject): JsonObject {
  const members = Object.entries({ $schema, $defs, definitions, title, description })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const maxDescribedAlternatives = 16

function describeAlternatives(alternatives: readonly Alternative[]): string | undefined {
  const texts = [...new Set(alternatives.map(describeAlternative))]
  if (texts.length < 2) return undefined
  const omittedCount = texts.length - maxDescribedAlternatives
  const shownTexts = texts.slice(0, maxDescribedAlternatives)
  if (omittedCount > 0) shownTexts.push(`one of ${omittedCount} more`)
  return `Give one of these sets of arguments: ${shownTexts.slice(0, -1).join(', ')} or ${shownTexts.at(-1)}.`
}

function describeAlternative({ properties, required, description }: Alternative): string {
  const names = [...new Set([...properties.keys(), ...required])]
  const members = names.map((name) => {
    const shownName = /^[\w$]+$/.test(name) ? name : JSON.stringify(name)
    const form = properties.get(name)
    if (isJsonObject(form) && form['const'] !== undefined) return `${shownName}: ${JSON.stringify(form['const'])}`
    return required.has(name) ? shownName : `${shownName}?`
  })
  const set = members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  return description === undefined ? set : `${set} (${description.replace(/\.$/, '')})`
}
