import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'

/** A file for `--answers` that answers these questions, by key. Undefined if one of them is not for a user. */
export function exampleAnswers(questions: JsonObject): JsonObject | undefined {
  const entries = Object.entries(questions).map(([key, question]) => [key, exampleAnswer(question)] as const)
  const answers = entries.flatMap(([key, answer]) => (answer === undefined ? [] : [[key, answer] as const]))
  return entries.length === 0 || answers.length < entries.length ? undefined : Object.fromEntries(answers)
}

function exampleAnswer(question: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(question) || question['method'] !== 'elicitation/create') return undefined
  const { params } = question
  return exampleContent(isJsonObject(params) ? params['requestedSchema'] : undefined)
}

/** An answer that fits a form. A page is answered with an action. */
export function exampleContent(schema: JsonValue | undefined): JsonObject {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined
  if (!isJsonObject(properties)) return { action: 'accept' }
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, exampleValue(field)]))
}

const textByFormat: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['email', 'ada@example.com'],
  ['uri', 'https://example.com/'],
  ['date', '2026-12-31'],
  ['date-time', '2026-12-31T12:00:00Z'],
])

function exampleValue(field: JsonValue | undefined): JsonValue {
  if (!isJsonObject(field)) return '…'
  const { type, default: preset, items, minItems } = field
  if (preset !== undefined) return preset
  const [choice] = choicesOf(field)
  if (choice !== undefined) return choice
  if (type === 'array') return choicesOf(isJsonObject(items) ? items : {}).slice(0, Math.max(1, Number(minItems ?? 1)))
  if (type === 'boolean') return true
  return type === 'number' || type === 'integer' ? exampleNumber(field) : exampleText(field)
}

function choicesOf({ enum: values, oneOf, anyOf = oneOf }: JsonObject): readonly JsonValue[] {
  if (Array.isArray(values)) return values
  return Array.isArray(anyOf) ? anyOf.flatMap((one) => (isJsonObject(one) ? [one['const'] ?? []].flat() : [])) : []
}

function exampleNumber({ minimum, maximum }: JsonObject): number {
  const least = typeof minimum === 'number' ? Math.ceil(minimum) : Number.NEGATIVE_INFINITY
  const number = Math.max(1, least)
  return typeof maximum === 'number' && number > maximum ? maximum : number
}

function exampleText({ format, minLength, maxLength }: JsonObject): string {
  const known = textByFormat.get(format)
  if (known !== undefined) return known
  const text = '…'.repeat(Math.max(1, Number(minLength ?? 1)))
  return typeof maxLength === 'number' ? text.slice(0, maxLength) : text
}
