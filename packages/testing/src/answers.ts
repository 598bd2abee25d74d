import type { ElicitAnswer, InputContext, InputHandlers } from '@x/client'
import {
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputResponse,
  isJsonObject,
  type Root,
} from '@x/schema'
import { formatValue, TestingError } from './testing-error.ts'

/** A question, as functions in {@link Answers} receive it. */
export interface AskedQuestion {
  /** Key that the handler gave the question. */
  readonly key: string
  /** What a user reads, empty for sampling and roots. */
  readonly message: string
  /**
   * How often the question was asked, this time included. The server asks again if it did not accept the answer, or if
   * the user has not finished on a web page.
   */
  readonly times: number
  /** Which response of the call has the question, 1 for the first. */
  readonly round: number
  /** Request of the server. */
  readonly request: InputRequest
}

/** Asked in a round of a call, or by a task. */
export type ObservedQuestion = Pick<AskedQuestion, 'key' | 'message' | 'times'>

/**
 * Content of a form, result of sampling, list of roots, or action of the user. `'accept'` answers a URL, and a form
 * whose fields have defaults.
 */
export type AnswerValue = 'accept' | 'decline' | 'cancel' | FormContent | CreateMessageResult | readonly Root[]

/** Fields of a form that a user fills in. */
export type FormContent = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** An answer, or a function that returns one. */
export type Answer = AnswerValue | ((question: AskedQuestion) => AnswerValue | Promise<AnswerValue>)

/** Answers of a test, by the keys of the questions. */
export interface Answers {
  readonly [key: string]: Answer
}

/** All that a question may need. */
export const allCapabilities: ClientCapabilities = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: {},
}

/** Answers of one test, and which of them were used. */
export interface AnswerRegistry {
  /** Throws {@link TestingError} `unanswered` or `asked_again`. */
  answer(wireKey: string, request: InputRequest, round: number): Promise<InputResponse | ElicitAnswer>
  /** Keys of answers that no question has used so far. */
  listUnusedAnswers(): readonly string[]
}

/** `onQuestion` receives each question before it is answered. */
export function createAnswerRegistry(
  answers: Answers,
  onQuestion: (question: ObservedQuestion) => void = () => {},
): AnswerRegistry {
  const usedKeys = new Set<string>()
  return {
    listUnusedAnswers: () => Object.keys(answers).filter((key) => !usedKeys.has(key)),
    async answer(wireKey, request, round) {
      const { key, occurrence: times } = splitKey(wireKey)
      const message = readQuestionText(request)
      onQuestion({ key, message, times })
      const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
      if (answer === undefined) throw unansweredError(key, request, message)
      usedKeys.add(key)
      if (typeof answer !== 'function') {
        if (times > 1 && isFormRequest(request)) throw repeatedQuestionError(key, answer, message)
        return toInputResponse(key, request, answer)
      }
      return toInputResponse(key, request, await answer({ key, message, times, round, request }))
    },
  }
}

/** Answers from the registry, for the kinds of questions that the client declares. */
export function createInputHandlers(
  answerRegistry: AnswerRegistry,
  { elicitation, sampling, roots }: ClientCapabilities,
): InputHandlers {
  // The client checks every answer before it is sent, so an answer of the wrong kind fails the call.
  const giveAnswer = (request: InputRequest, { key, round }: InputContext) =>
    answerRegistry.answer(key, request, round) as never
  const isFormMode = elicitation !== undefined && elicitation.form === undefined && elicitation.url === undefined
  return {
    ...((elicitation?.form !== undefined || isFormMode) && {
      elicit: (params, context) => giveAnswer({ method: 'elicitation/create', params }, context),
    }),
    ...(elicitation?.url !== undefined && {
      openUrl: (params, context) => giveAnswer({ method: 'elicitation/create', params }, context),
    }),
    ...(sampling !== undefined && {
      sample: (params, context) => giveAnswer({ method: 'sampling/createMessage', params }, context),
    }),
    ...(roots !== undefined && {
      roots: async (context) =>
        (await (giveAnswer({ method: 'roots/list' }, context) as Promise<{ roots: Root[] }>)).roots,
    }),
  }
}

/** A suffix `~2` means that the question is asked for the second time. */
export function splitKey(wireKey: string): { readonly key: string; readonly occurrence: number } {
  const [key = '', times] = wireKey.split('~')
  return { key, occurrence: times === undefined ? 1 : Number(times) || 1 }
}

/** What a user reads of a request. */
export function readQuestionText(request: InputRequest): string {
  return request.method === 'elicitation/create' ? request.params.message : ''
}

function isFormRequest(request: InputRequest): boolean {
  return request.method === 'elicitation/create' && request.params.mode !== 'url'
}

function toInputResponse(key: string, request: InputRequest, answer: AnswerValue): InputResponse | ElicitAnswer {
  if (request.method === 'elicitation/create') return toElicitAnswer(key, answer)
  if (request.method === 'roots/list') {
    if (Array.isArray(answer)) return { roots: answer }
    throw wrongAnswerError(key, answer, "the client's roots: [{ uri: 'file:///project' }]")
  }
  // The cast is safe enough: the client checks each answer.
  if (typeof answer === 'object' && 'role' in answer) return answer as CreateMessageResult
  throw wrongAnswerError(key, answer, sampleAnswer)
}

function toElicitAnswer(key: string, answer: AnswerValue): ElicitAnswer {
  if (answer === 'accept' || answer === 'decline' || answer === 'cancel') return { action: answer }
  if (typeof answer !== 'object' || Array.isArray(answer)) {
    throw wrongAnswerError(key, answer, "the fields of the form, 'accept', 'decline' or 'cancel'")
  }
  // Arrays are lists of roots and were rejected above. The client checks the fields against the form.
  return { action: 'accept', content: answer as FormContent }
}

const sampleAnswer = "{ role: 'assistant', model: 'test', content: { type: 'text', text: '…' } }"

function wrongAnswerError(key: string, answer: unknown, expectedText: string): TestingError {
  return new TestingError('usage', `answers[${formatValue(key)}] is ${formatValue(answer)}; expected ${expectedText}`)
}

function unansweredError(key: string, request: InputRequest, message: string): TestingError {
  const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : formatValue(key)
  const question = message === '' ? request.method : formatValue(message)
  const instruction = `write answers: { ${name}: ${formatExampleAnswer(request)} }`
  const otherAnswersText = request.method === 'elicitation/create' ? ", or 'decline', or 'cancel'" : ''
  return new TestingError(
    'unanswered',
    `The server asks "${key}" (${question}), and the test has no answer: ${instruction}${otherAnswersText}`,
  )
}

function repeatedQuestionError(key: string, answer: AnswerValue, message: string): TestingError {
  const instruction = `give another answer, or a function: ${formatValue(key)}: ({ times }) => (times === 1 ? … : …)`
  return new TestingError(
    'asked_again',
    `The server asks "${key}" again after the answer ${formatValue(answer)}: ${message}\n${instruction}`,
  )
}

function formatExampleAnswer(request: InputRequest): string {
  if (request.method === 'roots/list') return "[{ uri: 'file:///project' }]"
  if (request.method === 'sampling/createMessage') return sampleAnswer
  if (request.params.mode === 'url') return "'accept'"
  const { properties, required = Object.keys(properties) }: ElicitRequestFormParams['requestedSchema'] =
    request.params.requestedSchema
  const fields = required.map(
    (name) => `${name}: ${formatExampleValue(Object.hasOwn(properties, name) ? properties[name] : {})}`,
  )
  return fields.length === 0 ? "'accept'" : `{ ${fields.join(', ')} }`
}

function formatExampleValue(schema: unknown): string {
  if (!isJsonObject(schema)) return "'…'"
  const { type, enum: values, oneOf } = schema
  if (Array.isArray(values)) return formatValue(values[0])
  if (Array.isArray(oneOf) && isJsonObject(oneOf[0])) return formatValue(oneOf[0]['const'])
  if (type === 'boolean') return 'true'
  if (type === 'array') return '[]'
  return type === 'string' ? "'…'" : '1'
}
