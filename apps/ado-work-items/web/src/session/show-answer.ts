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

/** Describes an answer in a few words. */
export function showAnswer({ action, content = {} }: ElicitAnswer): string {
  if (action === 'decline') return 'declined'
  if (action === 'cancel') return 'cancelled'
  const values = Object.values(content).flatMap((value) => (value === undefined ? [] : [showValue(value)]))
  return values.length === 0 ? 'accepted' : values.join(' · ')
}

function showValue(value: NonNullable<Content[string]>): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const text = typeof value === 'object' ? value.join(', ') : String(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
