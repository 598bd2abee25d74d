import { confirm, isCancel, log, multiselect, select, text } from '@clack/prompts'
import type {
  BooleanSchema,
  EnumSchema,
  MultiSelectEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  StringSchema,
} from '@x/schema'
import { fieldIssue, numberIn } from './field-issue.ts'
import { shownText } from './shown-text.ts'
import type { Terminal } from './terminal.ts'

/** The person left the prompt without an answer. */
export const left: unique symbol = Symbol('left')

/** A field of a form. */
export interface FormField {
  readonly name: string
  readonly field: PrimitiveSchemaDefinition
  readonly isRequired: boolean
}

/** The value of the field; undefined when it stays empty. */
type Filled<T> = T | undefined | typeof left

/** The display of a field: the words above the prompt, and the position of the prompt. */
type Shown<F> = {
  readonly field: F
  readonly isRequired: boolean
  readonly message: string
  readonly terminal: Terminal
}

/** Asks for one field with the prompt that suits its type. */
export function askField(
  { name, field, isRequired }: FormField,
  terminal: Terminal,
): Promise<Filled<string | number | boolean | readonly string[]>> {
  const shown = { isRequired, message: labelOf(name, field, isRequired), terminal }
  if (field.type === 'array') return askChoices({ ...shown, field })
  if (field.type === 'boolean') return askYesOrNo({ ...shown, field })
  if (isChoice(field)) return askChoice({ ...shown, field })
  return field.type === 'string' ? askText({ ...shown, field }) : askNumber({ ...shown, field })
}

function labelOf(name: string, { title, description }: PrimitiveSchemaDefinition, isRequired: boolean): string {
  const words =
    title !== undefined && description !== undefined ? `${title}: ${description}` : (title ?? description ?? name)
  return shownText(isRequired ? words : `${words} (optional)`)
}

type Choice = Exclude<EnumSchema, MultiSelectEnumSchema>

function isChoice(field: PrimitiveSchemaDefinition): field is Choice {
  return 'enum' in field || 'oneOf' in field
}

function askText({ field, ...shown }: Shown<StringSchema>): Promise<Filled<string>> {
  return type(shown, { field, initial: field.default })
}

async function askNumber({ field, ...shown }: Shown<NumberSchema>): Promise<Filled<number>> {
  const typed = await type(shown, { field, initial: field.default?.toString() })
  return typeof typed === 'string' ? numberIn(typed) : typed
}

async function type(
  { isRequired, message, terminal }: Omit<Shown<never>, 'field'>,
  { field, initial }: { readonly field: StringSchema | NumberSchema; readonly initial: string | undefined },
): Promise<Filled<string>> {
  const validate = (typed = ''): string | undefined => {
    if (typed === '') return isRequired ? 'This is required' : undefined
    return fieldIssue(field, typed)
  }
  const prompt = {
    message,
    validate,
    ...streamsOf(terminal),
    ...(initial === undefined ? {} : { initialValue: initial }),
  }
  const typed: string | symbol | undefined = await text(prompt)
  if (isCancel(typed) || typeof typed === 'symbol') return left
  return typed === '' ? undefined : typed
}

async function askYesOrNo({ field, isRequired, message, terminal }: Shown<BooleanSchema>): Promise<Filled<boolean>> {
  if (!isRequired && field.default === undefined) {
    const options = [{ label: 'Yes' }, { label: 'No' }]
    const picked = await pick(options, { message, terminal, initial: undefined, canBeEmpty: true })
    return typeof picked === 'number' ? picked === 0 : picked
  }
  const answer = await confirm({ message, initialValue: field.default ?? false, ...streamsOf(terminal) })
  return isCancel(answer) ? left : answer
}

async function askChoice({ field, isRequired, message, terminal }: Shown<Choice>): Promise<Filled<string>> {
  const options = optionsOf(field)
  const initial = options.findIndex(({ value }) => value === field.default)
  const picked = await pick(options, { message, terminal, initial, canBeEmpty: !isRequired })
  return typeof picked === 'number' ? options[picked]?.value : picked
}

interface Picking {
  readonly message: string
  readonly terminal: Terminal
  readonly initial: number | undefined
  readonly canBeEmpty: boolean
}

const empty = -1

/** Options go by their place, because a value could be the same as what stands for none. */
async function pick(options: readonly { label: string }[], picking: Picking): Promise<Filled<number>> {
  const { message, terminal, initial = empty, canBeEmpty } = picking
  const rows = options.map(({ label }, value) => ({ value, label }))
  const all = canBeEmpty ? [...rows, { value: empty, label: '(leave empty)' }] : rows
  const start = initial === empty ? {} : { initialValue: initial }
  const picked = await select({ message, options: all, ...start, ...streamsOf(terminal) })
  if (isCancel(picked)) return left
  return picked === empty ? undefined : picked
}

async function askChoices({
  field,
  isRequired,
  message,
  terminal,
}: Shown<MultiSelectEnumSchema>): Promise<Filled<readonly string[]>> {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = field
  const options = itemsOf(field)
  let chosen = options.flatMap(({ value }, index) => (field.default?.includes(value) ? [index] : []))
  for (;;) {
    const picked = await multiselect({
      message,
      options: options.map(({ label }, value) => ({ value, label })),
      initialValues: chosen,
      required: false,
      ...streamsOf(terminal),
    })
    if (isCancel(picked)) return left
    if (picked.length === 0 && !isRequired) return undefined
    if (picked.length >= minItems && picked.length <= maxItems) return picked.flatMap((at) => options[at]?.value ?? [])
    log.error(`Choose ${boundsOf(minItems, maxItems)} of them`, { output: terminal.output })
    chosen = picked
  }
}

function boundsOf(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return `at least ${least}`
  return least === most ? `exactly ${least}` : `${least} to ${most}`
}

interface Option {
  readonly value: string
  readonly label: string
}

function optionsOf(field: Choice): readonly Option[] {
  if ('oneOf' in field) return field.oneOf.map(({ const: value, title }) => ({ value, label: shownText(title) }))
  const titles = 'enumNames' in field ? (field.enumNames ?? []) : []
  return field.enum.map((value, index) => ({ value, label: shownText(titles[index] ?? value) }))
}

function itemsOf({ items }: MultiSelectEnumSchema): readonly Option[] {
  if ('anyOf' in items) return items.anyOf.map(({ const: value, title }) => ({ value, label: shownText(title) }))
  return items.enum.map((value) => ({ value, label: shownText(value) }))
}

function streamsOf({ input, output, signal }: Terminal): Terminal {
  return { input, output, signal }
}
