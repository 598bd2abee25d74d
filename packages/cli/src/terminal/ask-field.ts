import { confirm, isCancel, log, multiselect, select, text } from '@clack/prompts'
import type { Readable, Writable } from 'node:stream'
import type { BooleanField, ChoiceField, MultiChoiceField, FormField, NumberField, TextField } from '@x/client/forms'
import { toDisplayLine } from './display-text.ts'

/** The user dismissed a prompt without an answer. */
export const abandonedForm: unique symbol = Symbol('left')

type FieldAnswer<T> = T | undefined | typeof abandonedForm

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

function promptOf({ label, description, required }: FormField): string {
  const promptText = description === undefined ? label : `${label}: ${description}`
  return toDisplayLine(required ? promptText : `${promptText} (optional)`)
}

async function askText(field: TextField | NumberField, terminal: Terminal): Promise<FieldAnswer<string | number>> {
  const typedText: string | symbol | undefined = await text({
    message: promptOf(field),
    validate: (input = '') => field.check(field.parse(input)),
    ...streamsOf(terminal),
    ...(field.default === undefined ? {} : { initialValue: String(field.default) }),
  })
  if (isCancel(typedText) || typeof typedText === 'symbol') return abandonedForm
  return field.parse(typedText ?? '')
}

async function askYesOrNo(field: BooleanField, terminal: Terminal): Promise<FieldAnswer<boolean>> {
  if (!field.required && field.default === undefined) {
    const selection = await chooseIndex(['Yes', 'No'], { message: promptOf(field), terminal, canBeEmpty: true })
    return typeof selection === 'number' ? selection === 0 : selection
  }
  const prompt = { message: promptOf(field), initialValue: field.default ?? false, ...streamsOf(terminal) }
  const answer = await confirm(prompt)
  return isCancel(answer) ? abandonedForm : answer
}

async function askChoice(field: ChoiceField, terminal: Terminal): Promise<FieldAnswer<string>> {
  const { choices } = field
  const initialIndex = choices.findIndex(({ value }) => value === field.default)
  const labels = choices.map(({ label }) => toDisplayLine(label))
  const selection = await chooseIndex(labels, {
    message: promptOf(field),
    terminal,
    initialIndex,
    canBeEmpty: !field.required,
  })
  return typeof selection === 'number' ? choices[selection]?.value : selection
}

const emptyChoiceIndex = -1

/** Gives the index of the chosen label: a value could be equal to the marker for an empty choice. */
async function chooseIndex(
  labels: readonly string[],
  prompt: {
    readonly message: string
    readonly terminal: Terminal
    readonly initialIndex?: number
    readonly canBeEmpty: boolean
  },
): Promise<FieldAnswer<number>> {
  const { message, terminal, initialIndex = emptyChoiceIndex, canBeEmpty } = prompt
  const choiceOptions = labels.map((label, value) => ({ value, label }))
  const options = canBeEmpty ? [...choiceOptions, { value: emptyChoiceIndex, label: '(leave empty)' }] : choiceOptions
  // A prompt without options could never be answered.
  if (options.length === 0) return abandonedForm
  const initialOption = initialIndex === emptyChoiceIndex ? {} : { initialValue: initialIndex }
  const selection = await select({ message, options, ...initialOption, ...streamsOf(terminal) })
  if (isCancel(selection)) return abandonedForm
  return selection === emptyChoiceIndex ? undefined : selection
}

async function askChoices(field: MultiChoiceField, terminal: Terminal): Promise<FieldAnswer<readonly string[]>> {
  const { choices, required } = field
  if (choices.length === 0) return field.check([]) === undefined ? [] : abandonedForm
  const options = choices.map(({ label }, value) => ({ value, label: toDisplayLine(label) }))
  let chosenIndexes = choices.flatMap(({ value }, index) => (field.default?.includes(value) ? [index] : []))
  for (;;) {
    const prompt = { message: promptOf(field), options, initialValues: chosenIndexes, required: false }
    const selection = await multiselect({ ...prompt, ...streamsOf(terminal) })
    if (isCancel(selection)) return abandonedForm
    if (selection.length === 0 && !required) return undefined
    const values = selection.flatMap((choiceIndex) => choices[choiceIndex]?.value ?? [])
    const issue = field.check(values)
    if (issue === undefined) return values
    log.error(issue, { output: terminal.output })
    chosenIndexes = selection
  }
}

function streamsOf({ input, output, signal }: Terminal): Terminal {
  return { input, output, signal }
}

/** Streams of the user's terminal. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
  /** Aborts when the question must be removed from the terminal. */
  readonly signal: AbortSignal
}
