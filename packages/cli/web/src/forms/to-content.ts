import type { ElicitAnswer } from '@x/client'
import type { JsonValue } from '@x/schema'

type Content = NonNullable<ElicitAnswer['content']>

/** Converts a form to the answer of a question; empty fields stay empty, even with a default. */
export function toContent(values: ReadonlyMap<string, JsonValue | undefined>): Content {
  return Object.fromEntries([...values].map(([name, value]) => [name, toAnswer(value)]))
}

function toAnswer(value: JsonValue | undefined): Content[string] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}
