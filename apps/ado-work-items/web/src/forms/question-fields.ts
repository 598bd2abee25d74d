import type { PrimitiveSchemaDefinition, RequestedSchema } from '@x/schema'
import { type Draft, emptyDraft, type Field, type FieldKind, labelOf, type Option } from './field.ts'
import { toLocalMoment } from './moment.ts'

/** The fields of a server's question, in its order (client/elicitation, requested schema). */
export function questionFields(schema: RequestedSchema): readonly Field[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties).map(([name, definition]) => {
    const kind = kindOf(definition)
    return {
      name,
      label: definition.title ?? labelOf(name),
      description: definition.description,
      required: required.has(name),
      kind,
      initial: initialOf(definition, kind),
    }
  })
}

function kindOf(definition: PrimitiveSchemaDefinition): FieldKind {
  switch (definition.type) {
    case 'boolean':
      return { type: 'flag' }
    case 'array': {
      const { items, minItems, maxItems } = definition
      const options = 'enum' in items ? items.enum.map(bareOption) : items.anyOf.map(titledOption)
      return { type: 'choices', options, minItems, maxItems }
    }
    case 'string':
      return textKind(definition)
    default: {
      const { type, minimum, maximum } = definition
      return { type: 'number', whole: type === 'integer', minimum, maximum }
    }
  }
}

function textKind(definition: Extract<PrimitiveSchemaDefinition, { readonly type: 'string' }>): FieldKind {
  if ('oneOf' in definition) return { type: 'choice', options: definition.oneOf.map(titledOption) }
  if ('enum' in definition) {
    const names = 'enumNames' in definition ? definition.enumNames : undefined
    return {
      type: 'choice',
      options: definition.enum.map((value, index) => ({ value, label: names?.[index] ?? value })),
    }
  }
  const { format, minLength, maxLength } = definition
  return { type: 'text', format, minLength, maxLength }
}

function bareOption(value: string): Option {
  return { value, label: value }
}

function titledOption({ const: value, title }: { readonly const: string; readonly title: string }): Option {
  return { value, label: title }
}

function initialOf({ default: given }: PrimitiveSchemaDefinition, kind: FieldKind): Draft {
  if (given === undefined) return emptyDraft(kind)
  if (typeof given === 'number') return String(given)
  return typeof given === 'string' && kind.type === 'text' && kind.format === 'date-time' ? toLocalMoment(given) : given
}
