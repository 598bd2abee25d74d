import { checkArgument } from '@x/core'
import type { PrimitiveSchemaDefinition, RequestedSchema, StringSchema } from '@x/schema'
import { type Choice, choicesOf, type FieldValue, describeFieldMismatch, isFieldValue } from '@x/schema/internal'
import type { ElicitAnswer } from '../request/input-handlers.ts'

/** What fields of all types have. Texts come from the server, so escape them when you show them. */
export interface FieldBase {
  /** Name of the field in the content. */
  readonly name: string
  /** Title in the schema, or else the name as words: `dueDate` becomes "Due date". */
  readonly label: string
  readonly description?: string | undefined
  readonly required: boolean
  /**
   * Checks a value, `undefined` for an empty field. A valid value gives `undefined`; any other, a sentence for the user
   * that describes valid values and never repeats this one.
   */
  check(value: unknown): string | undefined
}

/** A line of text. Lengths count code points, as JSON Schema does. */
export interface TextField extends FieldBase {
  readonly type: 'text'
  readonly format?: 'date' | 'date-time' | 'email' | 'uri' | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly default?: string | undefined
  /** Turns what the user typed into a value. An empty text becomes `undefined`. */
  parse(typedText: string): string | undefined
}

/** A number; a whole one if `isInteger` is true. */
export interface NumberField extends FieldBase {
  readonly type: 'number'
  readonly isInteger: boolean
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly default?: number | undefined
  /**
   * Turns what the user typed into a number. An empty text becomes `undefined`, and a text that is no number `NaN`,
   * which `check` rejects.
   */
  parse(typedText: string): number | undefined
}

/** True or false, such as a check box. */
export interface BooleanField extends FieldBase {
  readonly type: 'boolean'
  readonly default?: boolean | undefined
}

/** Exactly one of its choices. */
export interface ChoiceField extends FieldBase {
  readonly type: 'choice'
  readonly choices: readonly Choice[]
  readonly default?: string | undefined
}

/** Several of its choices. */
export interface MultiChoiceField extends FieldBase {
  readonly type: 'choices'
  readonly choices: readonly Choice[]
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly default?: readonly string[] | undefined
}

/** A field of a form. A default that the field's own `check` rejects is left out. */
export type FormField = TextField | NumberField | BooleanField | ChoiceField | MultiChoiceField

/** Content to send, or a sentence for each invalid field, by its name and in the order of the form. */
export type FormCheck =
  | { readonly content: NonNullable<ElicitAnswer['content']> }
  | { readonly issues: ReadonlyMap<string, string> }

/** A form to show to a person. */
export interface FormDescription {
  /** In the order of the schema. */
  readonly fields: readonly FormField[]
  /**
   * Checks all fields. An absent member gets its field's default; one with the value `undefined` stays empty. Return
   * the checked content with `action: 'accept'`.
   */
  check(values: Readonly<Record<string, unknown>>): FormCheck
}

/**
 * Turns the form that a server asks for into fields with labels, defaults, choices and checks (client/elicitation,
 * requested schema).
 *
 * @example
 * const form = readForm(question.requestedSchema)
 * const checked = form.check(await show(form.fields))
 * return 'content' in checked ? { action: 'accept', content: checked.content } : show(form.fields, checked.issues)
 */
export function readForm(schema: RequestedSchema): FormDescription {
  checkArgument(schema, { where: 'readForm', takes: 'the requestedSchema of a question', needs: ['properties'] })
  const requiredNames = new Set(schema.required)
  const fields = Object.entries(schema.properties).map(([name, definition]) =>
    fieldFromDefinition(definition, {
      name,
      label: definition.title || labelFromName(name),
      description: definition.description,
      required: requiredNames.has(name),
      check: (value) =>
        value === undefined ? describeMissingValue(requiredNames.has(name)) : describeCorrection(definition, value),
    }),
  )
  return { fields, check: (values) => checkFields(fields, values) }
}

function checkFields(fields: readonly FormField[], values: Readonly<Record<string, unknown>>): FormCheck {
  const issues = new Map<string, string>()
  const entries: [string, FieldValue | undefined][] = []
  for (const field of fields) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : field.default
    const issue = field.check(value)
    if (issue !== undefined) issues.set(field.name, issue)
    else entries.push([field.name, isFieldValue(value) ? value : undefined])
  }
  const fieldNames = new Set(fields.map(({ name }) => name))
  for (const name of Object.keys(values)) if (!fieldNames.has(name)) issues.set(name, 'The form has no such field')
  // `fromEntries` defines members; an assignment to a field called `__proto__` would set the prototype.
  return issues.size > 0 ? { issues } : { content: Object.fromEntries(entries) }
}

function fieldFromDefinition(definition: PrimitiveSchemaDefinition, base: FieldBase): FormField {
  switch (definition.type) {
    case 'boolean':
      return { ...base, type: 'boolean', default: validDefaultOf(base, definition.default) }
    case 'array': {
      const { items, minItems, maxItems } = definition
      const choices = choicesOf(items) ?? []
      return {
        ...base,
        type: 'choices',
        choices,
        minItems,
        maxItems,
        default: validDefaultOf(base, definition.default),
      }
    }
    case 'string':
      return fieldFromTextDefinition(definition, base)
    default: {
      const { type, minimum, maximum } = definition
      const numberProperties = { isInteger: type === 'integer', minimum, maximum, parse: parseNumber }
      return { ...base, type: 'number', ...numberProperties, default: validDefaultOf(base, definition.default) }
    }
  }
}

type TextDefinition = Extract<PrimitiveSchemaDefinition, { readonly type: 'string' }>

function fieldFromTextDefinition(definition: TextDefinition, base: FieldBase): TextField | ChoiceField {
  const choices = choicesOf(definition)
  const defaultValue = validDefaultOf(base, definition.default)
  if (choices !== undefined) return { ...base, type: 'choice', choices, default: defaultValue }
  const { format, minLength, maxLength }: Partial<StringSchema> =
    'enum' in definition || 'oneOf' in definition ? {} : definition
  return { ...base, type: 'text', format, minLength, maxLength, default: defaultValue, parse: parseText }
}

function validDefaultOf<Value>({ check }: FieldBase, value: Value | undefined): Value | undefined {
  return value === undefined || check(value) !== undefined ? undefined : value
}

function parseText(typedText: string): string | undefined {
  return typedText === '' ? undefined : typedText
}

function parseNumber(typedText: string): number | undefined {
  // `Number('')` would be 0.
  return typedText.trim() === '' ? undefined : Number(typedText)
}

function describeMissingValue(isRequired: boolean): string | undefined {
  return isRequired ? 'This is required' : undefined
}

function describeCorrection(definition: PrimitiveSchemaDefinition, value: unknown): string | undefined {
  const expectedDescription = describeFieldMismatch(definition, value)
  if (expectedDescription === undefined) return undefined
  if (definition.type === 'boolean') return 'Choose yes or no'
  const isSelection =
    definition.type === 'array' || (definition.type === 'string' && choicesOf(definition) !== undefined)
  return `${isSelection ? 'Choose' : 'Write'} ${expectedDescription}`
}

/** Makes a label of a field's name: camel case becomes words, such as "Duplicate of id". */
export function labelFromName(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}
