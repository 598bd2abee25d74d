import type { ElicitAnswer, InputContext, InputHandlers } from '@x/client'
import { findClosestName, isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import type { ElicitRequestFormParams } from '@x/schema'
import { choicesOf } from '@x/schema/internal'
import { CliError } from '../cli-error.ts'
import { toDisplayLine } from '../terminal/display-text.ts'
import { exampleAnswers, exampleContent } from './example-answer.ts'

/** For a call that asks where no person can answer. Servers of these packages say what they ask. */
export function adviseAnswers(questions: JsonObject): string {
  const example = exampleAnswers(questions)
  if (example === undefined)
    return 'Answer its questions with --answers FILE, a JSON object by the key of each question, such as {"name":{"name":"Ada"}}, or call it from a terminal'
  const messages = Object.entries(questions).map(([key, question]) => `It asks "${key}": ${messageOf(question)}`)
  return [
    ...messages,
    'Answer with --answers FILE, or call it from a terminal. A file that answers this:',
    JSON.stringify(example),
  ].join('\n')
}

function messageOf(question: JsonValue | undefined): string {
  const params = isJsonObject(question) ? question['params'] : undefined
  return toDisplayLine(String(isJsonObject(params) ? params['message'] : ''))
}

/** Answers from the file, and passes a question without an answer there to `others`. */
export function answerHandlers(answers: JsonObject, others: InputHandlers): InputHandlers {
  const find = ({ key }: InputContext): JsonValue | undefined =>
    Object.hasOwn(answers, key) ? answers[key] : undefined
  return {
    elicit: (question, context) => {
      const answer = find(context)
      if (answer !== undefined) return answerForm(answer, question, context)
      if (others.elicit !== undefined) return others.elicit(question, context)
      const schema: JsonValue = JSON.parse(JSON.stringify(question.requestedSchema))
      return failUnanswered(answers, question.message, { context, example: exampleContent(schema) })
    },
    openUrl: (question, context) => {
      const answer = find(context)
      const action = refusalOf(answer) ?? explicitActionOf(answer)
      if (action !== undefined) return { action }
      if (answer !== undefined) return rejectAnswer(context.key, exampleContent(undefined))
      if (others.openUrl !== undefined) return others.openUrl(question, context)
      return failUnanswered(answers, question.message, { context, example: { action: 'accept' } })
    },
  }
}

function failUnanswered(
  answers: JsonObject,
  message: string,
  { context: { key, target = '' }, example }: { readonly context: InputContext; readonly example: JsonObject },
): never {
  const missing = JSON.stringify({ [key]: example })
  const misspelt = Object.keys(answers).find((name) => findClosestName(name, [key]) !== undefined)
  const hint = misspelt === undefined ? '' : `\n--answers has "${misspelt}": did you mean "${key}"?`
  const asks = `${target} asks "${key}": ${toDisplayLine(message)}${hint}`
  throw new CliError('failure', `Add to --answers: ${missing}; ${asks}`)
}

const refusals = ['decline', 'cancel'] as const
const actions = ['accept', ...refusals] as const

function refusalOf(answer: JsonValue | undefined): (typeof refusals)[number] | undefined {
  return refusals.find((word) => word === answer)
}

function explicitActionOf(answer: JsonValue | undefined): ElicitAnswer['action'] | undefined {
  if (!isJsonObject(answer)) return undefined
  const { action, content, ...others } = answer
  const isWhole = Object.keys(others).length === 0 && (content === undefined || isJsonObject(content))
  return isWhole ? actions.find((name) => name === action) : undefined
}

function answerForm(answer: JsonValue, question: ElicitRequestFormParams, { key }: InputContext): ElicitAnswer {
  const { properties } = question.requestedSchema
  if (!isJsonObject(answer)) return answerInShort(answer, properties, key)
  const fields = Object.keys(properties)
  const action = fields.includes('action') ? undefined : explicitActionOf(answer)
  if (action !== undefined) {
    const { content = {} } = answer
    if (isJsonObject(content)) rejectUnknownField(content, fields, key)
    return { action, content: contentOf(content, key) }
  }
  rejectUnknownField(answer, fields, key)
  return { action: 'accept', content: contentOf(answer, key) }
}

type Fields = ElicitRequestFormParams['requestedSchema']['properties']

/** The value of the only field, or a refusal. */
function answerInShort(answer: JsonValue, properties: Fields, key: string): ElicitAnswer {
  const [only, ...others] = Object.entries(properties)
  if (only !== undefined && others.length === 0 && mayBeValue(only[1], answer))
    return { action: 'accept', content: contentOf({ [only[0]]: answer }, key) }
  const action = refusalOf(answer)
  return action === undefined
    ? rejectAnswer(key, exampleContent(JSON.parse(JSON.stringify({ properties }))))
    : { action }
}

/** A field may have a choice with the name of a refusal. */
function mayBeValue(field: Fields[string], answer: JsonValue): boolean {
  if (typeof answer !== 'string') return true
  const isChoice = choicesOf(field)?.some(({ value }) => value === answer) === true
  return isChoice || (field.type === 'string' && refusalOf(answer) === undefined)
}

function rejectAnswer(key: string, example: JsonObject): never {
  const message = `The answer to "${key}" in --answers must be "decline", "cancel" or an object such as ${JSON.stringify(example)}`
  throw new CliError('usage', message)
}

/** A misspelt field that may be absent would be left out unnoticed. */
function rejectUnknownField(answer: JsonObject, fields: readonly string[], key: string): void {
  const unknown = Object.keys(answer).find((name) => !fields.includes(name))
  if (unknown === undefined) return
  const meant = findClosestName(unknown, [...fields, 'action', 'content'])
  const hint = meant === undefined ? '' : `: did you mean "${meant}"?`
  const message = `"${unknown}" is not a field of "${key}" in --answers${hint}; its fields are ${fields.join(', ')}`
  throw new CliError('usage', message)
}

function contentOf(value: JsonValue, key: string): NonNullable<ElicitAnswer['content']> {
  const entries = Object.entries(isJsonObject(value) ? value : {}).map(([name, field]) => {
    if (typeof field === 'string' || typeof field === 'number' || typeof field === 'boolean') return [name, field]
    if (Array.isArray(field) && field.every((item) => typeof item === 'string')) return [name, field]
    throw new CliError('usage', `${name} of "${key}" in --answers is not a text, number, boolean or list of texts`)
  })
  return Object.fromEntries(entries)
}
