import { confirm, isCancel, log, multiselect, select, text } from '@clack/prompts'
import type { Readable, Writable } from 'node:stream'
import type { BooleanField, ChoiceField, ChoicesField, FormField, NumberField, TextField } from '../forms/form.ts'

/** The person left the prompt without an answer. */
export const leftForm: unique symbol = Symbol('left')

/** The value of a field; `undefined` when it stays empty. */
type FieldAnswer<T> = T | undefined | typeof leftForm

/** Asks for one field with the prompt that suits its type. */
export async function askField(
  field: FormField,
  terminal: Terminal,
): Promise<FieldAnswer<string | number | boolean | readonly string[]>> {
  switch (field.type) {
    case 'choices':
      return askChoices(field, terminal)
    case 'boolean':
      return askYesOrNo(field, terminal)
    case 'choice':
      return askChoice(field, terminal)
    default:
      return askText(field, terminal)
  }
}

function messageOf({ label, description, required }: FormField): string {
  const words = description === undefined ? label : `${label}: ${description}`
  return shownText(required ? words : `${words} (optional)`)
}

async function askText(field: TextField | NumberField, terminal: Terminal): Promise<FieldAnswer<string | number>> {
  const typed: string | symbol | undefined = await text({
    message: messageOf(field),
    validate: (input = '') => field.check(field.parse(input)),
    ...streamsOf(terminal),
    ...(field.default === undefined ? {} : { initialValue: String(field.default) }),
  })
  if (isCancel(typed) || typeof typed === 'symbol') return leftForm
  return field.parse(typed ?? '')
}

async function askYesOrNo(field: BooleanField, terminal: Terminal): Promise<FieldAnswer<boolean>> {
  if (!field.required && field.default === undefined) {
    const picked = await chooseIndex(['Yes', 'No'], { message: messageOf(field), terminal, canBeEmpty: true })
    return typeof picked === 'number' ? picked === 0 : picked
  }
  const prompt = { message: messageOf(field), initialValue: field.default ?? false, ...streamsOf(terminal) }
  const answer = await confirm(prompt)
  return isCancel(answer) ? leftForm : answer
}

async function askChoice(field: ChoiceField, terminal: Terminal): Promise<FieldAnswer<string>> {
  const { choices } = field
  const initial = choices.findIndex(({ value }) => value === field.default)
  const labels = choices.map(({ label }) => shownText(label))
  const picked = await chooseIndex(labels, {
    message: messageOf(field),
    terminal,
    initial,
    canBeEmpty: !field.required,
  })
  return typeof picked === 'number' ? choices[picked]?.value : picked
}

interface ChoicePrompt {
  readonly message: string
  readonly terminal: Terminal
  readonly initial?: number
  readonly canBeEmpty: boolean
}

const empty = -1

/** Asks for one of the labels and returns its index, because a value could be the same as what stands for none. */
async function chooseIndex(labels: readonly string[], prompt: ChoicePrompt): Promise<FieldAnswer<number>> {
  const { message, terminal, initial = empty, canBeEmpty } = prompt
  const rows = labels.map((label, value) => ({ value, label }))
  const options = canBeEmpty ? [...rows, { value: empty, label: '(leave empty)' }] : rows
  // A prompt without options cannot be answered, only left.
  if (options.length === 0) return leftForm
  const start = initial === empty ? {} : { initialValue: initial }
  const picked = await select({ message, options, ...start, ...streamsOf(terminal) })
  if (isCancel(picked)) return leftForm
  return picked === empty ? undefined : picked
}

async function askChoices(field: ChoicesField, terminal: Terminal): Promise<FieldAnswer<readonly string[]>> {
  const { choices, required } = field
  if (choices.length === 0) return field.check([]) === undefined ? [] : leftForm
  const options = choices.map(({ label }, value) => ({ value, label: shownText(label) }))
  let chosen = choices.flatMap(({ value }, index) => (field.default?.includes(value) ? [index] : []))
  for (;;) {
    const prompt = { message: messageOf(field), options, initialValues: chosen, required: false }
    const picked = await multiselect({ ...prompt, ...streamsOf(terminal) })
    if (isCancel(picked)) return leftForm
    if (picked.length === 0 && !required) return undefined
    const values = picked.flatMap((at) => choices[at]?.value ?? [])
    const issue = field.check(values)
    if (issue === undefined) return values
    log.error(issue, { output: terminal.output })
    chosen = picked
  }
}

function streamsOf({ input, output, signal }: Terminal): Terminal {
  return { input, output, signal }
}

/** The longest text of a server that is shown at once, in UTF-16 code units. */
const longestShown = 4_000

/**
 * Returns a text from a server as a terminal may show it, at most 4,000 code units of it. Escape sequences, and
 * characters that turn or hide others, could make a question look like another one: each becomes a space.
 */
export function shownText(text: string): string {
  const harmless = text.replaceAll(/[^\P{C}\n]/gu, ' ')
  return harmless.length > longestShown ? `${harmless.slice(0, longestShown)}…` : harmless
}

/** The streams of a person's terminal. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  /** Takes the question away. */
  readonly signal: AbortSignal
}
