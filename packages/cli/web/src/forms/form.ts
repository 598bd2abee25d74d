import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { JsonValue } from '@x/schema'
import type { Draft, Field } from './field.ts'
import { readField } from './read-field.ts'

/** A form with its input. */
export interface Form {
  readonly fields: readonly Field[]
  readonly drafts: ReadonlySignal<ReadonlyMap<string, Draft>>
  /** The errors of the last reading, by field. */
  readonly issues: ReadonlySignal<ReadonlyMap<string, string>>
  set(name: string, draft: Draft): void
  /**
   * Reads the values by field; `undefined` is an empty field. Returns undefined if a field is invalid, and sets the
   * issues.
   */
  read(): ReadonlyMap<string, JsonValue | undefined> | undefined
}

/**
 * Creates a form with the defaults of its fields. Changing and reading it subscribes to no signal, so effects may do
 * both.
 */
export function openForm(fields: readonly Field[]): Form {
  const drafts: Signal<ReadonlyMap<string, Draft>> = signal(new Map(fields.map(({ name, initial }) => [name, initial])))
  const issues: Signal<ReadonlyMap<string, string>> = signal(new Map())
  const byName = new Map(fields.map((field) => [field.name, field]))

  const readOne = (field: Field): ReturnType<typeof readField> =>
    readField(field, drafts.peek().get(field.name) ?? field.initial)

  /**
   * While a field is invalid, each change is checked at once. Before that no change is checked, so that no error
   * appears while the user types.
   */
  const revalidate = (field: Field): void => {
    const reading = readOne(field)
    const others = [...issues.peek()].filter(([name]) => name !== field.name)
    const own: [string, string][] =
      typeof reading === 'object' && 'issue' in reading ? [[field.name, reading.issue]] : []
    issues.value = new Map([...others, ...own])
  }

  return {
    fields,
    drafts,
    issues,
    set: (name, draft) =>
      batch(() => {
        const field = byName.get(name)
        if (field === undefined) return
        drafts.value = new Map([...drafts.peek(), [name, draft]])
        if (issues.peek().has(name)) revalidate(field)
      }),
    read: () => {
      const readings = fields.map((field) => ({ name: field.name, reading: readOne(field) }))
      const wrong = readings.flatMap(({ name, reading }): [string, string][] =>
        typeof reading === 'object' && 'issue' in reading ? [[name, reading.issue]] : [],
      )
      issues.value = new Map(wrong)
      if (wrong.length > 0) return undefined
      return new Map(
        readings.map(({ name, reading }) => [
          name,
          typeof reading === 'object' && 'value' in reading ? reading.value : undefined,
        ]),
      )
    },
  }
}
