import type { JsonValue } from '@x/schema'
import { type Draft, entriesOf } from './field.ts'
import type { FieldReading } from './field-reading.ts'

/**
 * Reads rows of names and values into an object. Rows with nothing in them do not count. A value that was only not
 * filled in yet must not clear a field, so an empty one is written `""`.
 */
export function readEntries(draft: Draft): FieldReading {
  const rows = entriesOf(draft)
    .map(({ name, value }) => ({ name: name.trim(), value }))
    .filter(({ name, value }) => name !== '' || value !== '')
  if (rows.length === 0) return 'empty'
  const names = rows.map(({ name }) => name)
  const issue = issueOf(rows, names)
  return issue === undefined
    ? { value: Object.fromEntries(rows.map(({ name, value }) => [name, entryValue(value)])) }
    : { issue }
}

function issueOf(rows: ReturnType<typeof entriesOf>, names: readonly string[]): string | undefined {
  const nameless = rows.find(({ name }) => name === '')
  if (nameless !== undefined) return `Name the field that is to be "${nameless.value}".`
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `"${twice}" is there twice: remove one of them.`
  const open = rows.find(({ value }) => value === '')
  return open && `Give "${open.name}" a value, or remove it. To clear the field, write "".`
}

/** A number where it can be nothing else, such as `3` and not `007` or `1.0`, else the text as it is. */
function entryValue(text: string): JsonValue {
  if (text === '""') return ''
  const value = Number(text)
  return String(value) === text && Number.isFinite(value) ? value : text
}
