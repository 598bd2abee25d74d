import type { ElicitAnswer } from '@x/client'
import { type FormField, readForm } from '@x/client/forms'
import type { JsonValue, RequestedSchema } from '@x/schema'
import { type Draft, emptyDraft, type Field, type FieldKind } from './field.ts'
import { toLocalMoment } from './moment.ts'

/** Returns the fields of a server's question, in its order (client/elicitation, requested schema). */
export function questionFields(schema: RequestedSchema): readonly Field[] {
  return readForm(schema).fields.map((field) => {
    const { name, label, description, required } = field
    const kind = kindOf(field)
    return { name, label, description, required, kind, initial: initialOf(field, kind) }
  })
}

function kindOf(field: FormField): FieldKind {
  switch (field.type) {
    case 'boolean':
      return { type: 'flag' }
    case 'choice':
      return { type: 'choice', options: field.choices }
    case 'choices':
      return { type: 'choices', options: field.choices, minItems: field.minItems, maxItems: field.maxItems }
    case 'text':
      return { type: 'text', format: field.format, minLength: field.minLength, maxLength: field.maxLength }
    default:
      return { type: 'number', whole: field.isInteger, minimum: field.minimum, maximum: field.maximum }
  }
}

function initialOf({ default: given }: FormField, kind: FieldKind): Draft {
  if (given === undefined) return emptyDraft(kind)
  if (typeof given === 'number') return String(given)
  return typeof given === 'string' && kind.type === 'text' && kind.format === 'date-time' ? toLocalMoment(given) : given
}

type Content = NonNullable<ElicitAnswer['content']>

/** Converts a form to the answer of a question; empty fields stay empty, even with a default. */
export function toContent(values: ReadonlyMap<string, JsonValue | undefined>): Content {
  return Object.fromEntries([...values].map(([name, value]) => [name, toFieldValue(value)]))
}

function toFieldValue(value: JsonValue | undefined): Content[string] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}
