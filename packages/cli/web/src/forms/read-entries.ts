import type { JsonValue } from '@x/schema'
import { type Draft, entriesOf, type FieldReading } from './field.ts'

/**
 * Parses rows into an object. Empty rows are ignored. An empty value is written `""`, so that an unfinished row does
 * not clear a field.
 */
export function readEntries(draft: Draft): FieldReading {
  const rows = entriesOf(draft)
    .map(({ name, value }) => ({ name: name.trim(), value }))
    .filter(({ name, value }) => name !== '' || value !== '')
  if (rows.length === 0) return 'empty'
  const names = rows.map(({ name }) => name)
  const issue = entriesIssue(rows, names)
  return issue === undefined
    ? { value: Object.fromEntries(rows.map(({ name, value }) => [name, entryValue(value)])) }
    : { issue }
}

function entriesIssue(rows: ReturnType<typeof entriesOf>, names: readonly string[]): string | undefined {
  const nameless = rows.find(({ name }) => name === '')
  if (nameless !== undefined) return `Name the field that is to be "${nameless.value}".`
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `"${twice}" is there twice: remove one of them.`
  const open = rows.find(({ value }) => value === '')
  return open && `Give "${open.name}" a value, or remove it. To clear the field, write "".`
}

/**
 * Parses a value that is the usual notation of a number, such as `3`. Returns other text unchanged, such as `007` or
 * `1.0`.
 */
function entryValue(text: string): JsonValue {
  if (text === '""') return ''
  const value = Number(text)
  return String(value) === text && Number.isFinite(value) ? value : text
}
