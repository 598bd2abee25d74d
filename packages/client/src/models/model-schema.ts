import { findSchemaProblem, isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import {
  flattenObjectInput,
  hasLookAround,
  isModelFormat,
  isModelPropertyName,
  mapSubschemas,
  refusedRootKeywords,
  withoutRootReference,
} from '@x/schema/internal'

/**
 * Writes a tool's schema as every known model API accepts it: one object without a union at its root, plain property
 * names, lists with one schema of their items, no unknown formats and no look-around. Descriptions keep what is lost.
 * It accepts more than the original, which is fine: the server validates.
 */
export function toModelSchema(inputSchema: JsonObject): {
  readonly schema: JsonObject
  /** What the schema no longer says, as a sentence for the model. */
  readonly note: string | undefined
  /** Puts the server's property names back into a model's arguments. */
  readonly restoreNames: (args: JsonObject) => JsonObject
} {
  if (findSchemaProblem(inputSchema) !== undefined) return undescribed
  const { jsonSchema, alternatives } = toOneObject(inputSchema)
  const names = new PropertyNames()
  const { $schema: _dialect, ...schema } = mapSubschemas(jsonSchema, (subschema) => rewrite(subschema, names))
  // A reference through a property, such as #/properties/größe, leads nowhere once the property has another name.
  if (findSchemaProblem(schema) !== undefined) return undescribed
  return { schema, note: alternatives, restoreNames: names.restore }
}

const undescribed: ReturnType<typeof toModelSchema> = {
  schema: { type: 'object', properties: {}, additionalProperties: {} },
  note: 'Its arguments are not described in a form that can be shown here.',
  restoreNames: (args) => args,
}

function toOneObject(inputSchema: JsonObject): { jsonSchema: JsonObject; alternatives: string | undefined } {
  const root = withoutRootReference(inputSchema)
  if (!refusedRootKeywords.some((keyword) => Object.hasOwn(root, keyword)))
    return { jsonSchema: root, alternatives: undefined }
  const flattened = flattenObjectInput(root, inputSchema)
  if (typeof flattened !== 'string') return flattened
  const accepted = Object.entries(root).filter(([keyword]) => !isRefusedAtRoot(keyword))
  return { jsonSchema: Object.fromEntries(accepted), alternatives: undefined }
}

function isRefusedAtRoot(keyword: string): boolean {
  return refusedRootKeywords.some((refused) => refused === keyword)
}

function rewrite(schema: JsonObject, names: PropertyNames): JsonObject {
  return withPlainFormat(withoutLookAround(withItems(withProperties(names.rename(schema)))))
}

/** The OpenAI API refuses an object without `properties`, and a list without `items`. */
function withProperties(schema: JsonObject): JsonObject {
  return schema['type'] === 'object' && schema['properties'] === undefined ? { ...schema, properties: {} } : schema
}

/** Model APIs disagree about schemas by position, so one schema of all items replaces them. */
function withItems(schema: JsonObject): JsonObject {
  const { prefixItems, items, additionalItems, ...others } = schema
  // The first is 2020-12, the second draft-07.
  if (Array.isArray(prefixItems)) return withoutPositions(others, prefixItems, items)
  if (Array.isArray(items)) return withoutPositions(others, items, additionalItems)
  return others['type'] === 'array' && items === undefined ? { ...schema, items: {} } : schema
}

function withoutPositions(
  schema: JsonObject,
  positions: readonly JsonValue[],
  further: JsonValue | undefined,
): JsonObject {
  const forms = isJsonObject(further) ? [...positions, further] : positions
  const [first = {}, ...others] = new Map(forms.map((form) => [JSON.stringify(form), form])).values()
  const items = others.length === 0 ? first : { anyOf: [first, ...others] }
  const isClosed = further === false
  const order = `Items in this order: ${positions.map(nameOf).join(', ')}${isClosed ? '' : ', …'}.`
  return appendDescription({ ...(isClosed && { maxItems: positions.length }), ...schema, items }, order)
}

function nameOf(form: JsonValue): string {
  if (!isJsonObject(form)) return 'any value'
  const { title, description, type } = form
  return [title, description, type].find((text) => typeof text === 'string') ?? 'any value'
}

function withoutLookAround(schema: JsonObject): JsonObject {
  const { pattern, patternProperties } = schema
  const changed: Record<string, JsonValue | undefined> = { ...schema }
  if (isJsonObject(patternProperties)) {
    const kept = Object.entries(patternProperties).filter(([each]) => !hasLookAround(each))
    changed['patternProperties'] = Object.fromEntries(kept)
  }
  if (typeof pattern !== 'string' || !hasLookAround(pattern)) return changed
  delete changed['pattern']
  return appendDescription(changed, `Matches the regular expression ${pattern}`)
}

function withPlainFormat(schema: JsonObject): JsonObject {
  const { format, ...others } = schema
  if (typeof format !== 'string' || isModelFormat(format)) return schema
  return appendDescription(others, `Format: ${format.slice(0, 100)}.`)
}

function appendDescription(schema: JsonObject, sentence: string): JsonObject {
  const { description } = schema
  return { ...schema, description: typeof description === 'string' ? `${description} ${sentence}` : sentence }
}

class PropertyNames {
  // Bounded by the properties of one tool, whose schema has a limit of parts.
  readonly #plainNames = new Map<string, string>()
  // Bounded by the same properties.
  readonly #originalNames = new Map<string, string>()

  rename(schema: JsonObject): JsonObject {
    const changed: Record<string, JsonValue | undefined> = { ...schema }
    for (const keyword of ['properties', 'dependentSchemas', 'dependentRequired', 'dependencies']) {
      const members = changed[keyword]
      if (!isJsonObject(members)) continue
      const renamed = Object.entries(members).map(([name, value]) => this.#renameMember(name, value ?? {}))
      changed[keyword] = Object.fromEntries(renamed)
    }
    const { required } = schema
    if (Array.isArray(required)) changed['required'] = required.map((name) => this.#renameText(name))
    return changed
  }

  #renameMember(name: string, value: JsonValue): [string, JsonValue] {
    const plainName = this.#plainNameOf(name)
    if (Array.isArray(value)) return [plainName, value.map((each) => this.#renameText(each))]
    if (value === true) return [plainName, plainName === name ? {} : { title: name }]
    return [plainName, plainName === name || !isJsonObject(value) ? value : { title: name, ...value }]
  }

  #renameText(name: JsonValue): JsonValue {
    return typeof name === 'string' ? this.#plainNameOf(name) : name
  }

  // Written as in names of XML ("_x0024_" for "$"), which no other property is likely to have.
  #plainNameOf(name: string): string {
    if (isModelPropertyName(name)) return name
    const earlier = this.#plainNames.get(name)
    if (earlier !== undefined) return earlier
    const encoded = name.replaceAll(
      /[^a-zA-Z0-9_.-]/g,
      (unit) => `_x${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    const number = this.#plainNames.size + 1
    const plainName = encoded !== '' && encoded.length <= 64 ? encoded : `${encoded.slice(0, 48)}_x_${number}`
    this.#plainNames.set(name, plainName)
    this.#originalNames.set(plainName, name)
    return plainName
  }

  readonly restore = (args: JsonObject): JsonObject =>
    this.#originalNames.size === 0
      ? args
      : Object.fromEntries(
          Object.entries(args).map(([name, value]) => [
            this.#originalNames.get(name) ?? name,
            this.#restoreValue(value),
          ]),
        )

  #restoreValue(value: JsonValue | undefined): JsonValue | undefined {
    if (Array.isArray(value)) return value.map((item) => this.#restoreValue(item) ?? null)
    return isJsonObject(value) ? this.restore(value) : value
  }
}
