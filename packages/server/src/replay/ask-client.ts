import { cloneJson, quoteText, isPromiseLike } from '@x/core'
import { DefinitionError, type ServerEvents } from '@x/exchange'
import {
  type ClientCapabilities,
  errorCodes,
  type InputRequest,
  isJsonObject,
  type JsonObject,
  McpError,
} from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { requireCapabilities } from './served-request.ts'
import { HandlerError } from './handler-error.ts'
import type { AskedQuestion, QuestionRecord } from './journal.ts'
import { startUse } from './context-uses.ts'
import type { Run } from './run.ts'

/** A handler's question, described only once its key is known to be one. */
export interface HandlerQuestion<T> {
  /** The `ctx` function that asks. */
  readonly functionName: string
  /**
   * Calls `onRebuilt` for a schema that the handler builds anew in every run. Throws `DefinitionError` for a wrong one.
   */
  readonly describe: (key: string, onRebuilt: () => void) => ClientQuestion<T>
}

/** A question to the client, and how to read its answer. */
export interface ClientQuestion<T> {
  /** The `ctx` functions that ask so, for error messages. */
  readonly functionName: string
  readonly request: InputRequest
  /** The JSON of the request, if the caller already has it. */
  readonly text?: string
  /** Capabilities that a client needs to answer. */
  readonly requiredCapabilities: ClientCapabilities
  /** Checks the client's answer and converts it for the handler. Called in every run. */
  readonly parseResponse: (response: JsonObject) => Awaitable<AnswerOutcome<T>>
}

/** What became of an answer: a value or an error for the handler, what is wrong with it, or why it came too early. */
export type AnswerOutcome<T> = HandlerAnswer<T> | { readonly problem: string } | { readonly pendingReason: string }

type HandlerAnswer<T> = { readonly value: T } | { readonly error: Error }

const maxInvalidAnswers = 2

/**
 * How often a question's text may change within a call. A new version of the handler changes it once, and an old
 * version that continues the call changes it back; a third change means that the text differs in every run.
 */
const maxQuestionChanges = 2

/** Asks for a function of the context, and returns the promise that its handler awaits. */
export function ask<T>(run: Run, key: string, question: HandlerQuestion<T>): Promise<T> {
  const answer = answerQuestion(run, key, question)
  return startUse(run, question.functionName, key, answer)
}

/**
 * Returns the journal's answer if there is one; otherwise suspends the run, so that the client is asked. Throws an
 * `McpError` (-32021) if the client has not declared the required capabilities (basic/patterns/mrtr, server
 * requirements).
 */
async function answerQuestion<T>(run: Run, key: string, handlerQuestion: HandlerQuestion<T>): Promise<T> {
  run.uses.checkKey(key, handlerQuestion.functionName)
  const question = describeQuestion(run, key, handlerQuestion)
  const { functionName, request, text = JSON.stringify(request), requiredCapabilities } = question
  run.uses.registerUse('ask', key, functionName, text)
  const record = run.journal.findQuestion(key) ?? newQuestion
  let repeatedQuestion: AskedQuestion | undefined
  // Only answers to recorded questions are used: an unasked one could pass for a consent that no user gave.
  if (record.response !== undefined) {
    const pendingAnswer = parseAnswer(run, question, { record, response: record.response, text })
    const answer = isPromiseLike(pendingAnswer) ? await run.waitForParsing(pendingAnswer) : pendingAnswer
    run.checkNotOver(functionName)
    // If the question's text has changed, its answer is not used.
    if (!('changeCount' in answer)) emitAnswer(run, key, request, actionOf(answer, record.response))
    if ('value' in answer) return answer.value
    if ('error' in answer) throw answer.error
    rejectEndlessQuestion(run, key, text, answer)
    repeatedQuestion = askAgain({ ...record, request, text }, answer)
  }
  requireCapabilities(requiredCapabilities, run.request, { [key]: request })
  return run.ask(key, repeatedQuestion ?? { ...record, request, text })
}

/** Fails the call for a schema that a form cannot have: only the author can correct that, not a model. */
function describeQuestion<T>(run: Run, key: string, { describe }: HandlerQuestion<T>): ClientQuestion<T> {
  const advice = 'make the form once, where the module loads: const answer = form(z.object({ … }))'
  try {
    // Such a schema costs more than the run itself.
    return describe(key, () => run.warn('rebuilt_form', `builds the schema of "${key}" in every run: ${advice}`, key))
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    throw run.fail(new HandlerError('question', `The question "${key}": ${error.message}`))
  }
}

function emitAnswer(
  { request, name }: Run,
  key: string,
  { method: kind }: InputRequest,
  action: ServerEvents['answer']['action'],
): void {
  const { settings, observation, call, method } = request
  if (observation?.newAnswers.delete(key) !== true) return
  settings.events.emit?.({ type: 'answer', call, method, name, key, kind, action })
}

/** Only elicitations can be declined or cancelled; any other valid answer counts as accepted. */
function actionOf(answer: object, { action }: JsonObject): ServerEvents['answer']['action'] {
  if ('invalidAnswerCount' in answer) return 'invalid'
  return action === 'decline' || action === 'cancel' ? action : 'accept'
}

const newQuestion: QuestionRecord = {
  fingerprint: '',
  response: undefined,
  wireKeyCount: 1,
  invalidAnswerCount: 0,
  changeCount: 0,
}

type RepeatReason =
  | { readonly changeCount: number }
  | {
      readonly invalidAnswerCount: number
      readonly reason: string
      readonly invalidAnswer: string
      readonly isLast: boolean
    }
  | { readonly pendingReason: string }

/**
 * Returns the value, or why to ask again. It is a promise only if the platform's digest or `parseResponse` is
 * asynchronous.
 */
function parseAnswer<T>(
  { journal }: Run,
  { parseResponse, request }: ClientQuestion<T>,
  { record, response, text }: { readonly record: QuestionRecord; readonly response: JsonObject; readonly text: string },
): Awaitable<HandlerAnswer<T> | RepeatReason> {
  return mapAwaitable(journal.fingerprintOf(text), (fingerprint): Awaitable<HandlerAnswer<T> | RepeatReason> => {
    // The user answered a question with another text: either another version of the handler asked it, or the text
    // differs in every run.
    if (fingerprint !== record.fingerprint) return { changeCount: record.changeCount + 1 }
    // Parsing gets a copy, because a handler may change its answer but never the journal.
    return mapAwaitable(parseResponse(cloneJson(response)), (answer): Awaitable<HandlerAnswer<T> | RepeatReason> => {
      if (!('problem' in answer)) return answer
      return mapAwaitable(journal.fingerprintOf(JSON.stringify(response)), (invalidAnswer) => ({
        invalidAnswerCount: record.invalidAnswerCount + 1,
        reason: answer.problem,
        invalidAnswer,
        isLast:
          record.invalidAnswerCount >= maxInvalidAnswers ||
          invalidAnswer === record.invalidAnswer ||
          isEmptyForm(request, response),
      }))
    })
  })
}

/**
 * Keeps a question from being asked without end: throws once its text has changed too often or too many answers were
 * invalid.
 */
function rejectEndlessQuestion(run: Run, key: string, text: string, repeatReason: RepeatReason): void {
  if ('changeCount' in repeatReason && repeatReason.changeCount > maxQuestionChanges) {
    const reason = `asks "${key}" differently in every run: keep times and random values out of messages and schemas`
    const message = `${quoteText(run.name)} ${reason}. Now it asks: ${text.slice(0, 500)}`
    throw run.fail(new HandlerError('question', message))
  }
  if ('invalidAnswerCount' in repeatReason && repeatReason.isLast) {
    const message = `The question "${key}" got no valid answer. ${repeatReason.reason}`
    const error = new McpError(errorCodes.invalidParams, message)
    unansweredErrors.add(error)
    throw error
  }
}

const unansweredErrors = new WeakSet<object>()

/** True for the error of a question that got no valid answer. */
export function isUnansweredError(error: unknown): error is Error {
  return typeof error === 'object' && error !== null && unansweredErrors.has(error)
}

// Hosts accept a form that they cannot show with no content.
function isEmptyForm({ method, params }: InputRequest, { action, content = {} }: JsonObject): boolean {
  const isForm = method === 'elicitation/create' && params !== undefined && 'requestedSchema' in params
  return isForm && action === 'accept' && isJsonObject(content) && Object.keys(content).length === 0
}

function askAgain(question: AskedQuestion, repeatReason: RepeatReason): AskedQuestion {
  const { request, text, wireKeyCount, invalidAnswerCount, changeCount } = question
  const counts = { wireKeyCount: wireKeyCount + 1, invalidAnswerCount, changeCount }
  if ('changeCount' in repeatReason) return { ...counts, request, text, changeCount: repeatReason.changeCount }
  if ('pendingReason' in repeatReason)
    return { ...counts, request: withReason(request, repeatReason.pendingReason), text }
  const { reason, invalidAnswerCount: newCount, invalidAnswer } = repeatReason
  return { ...counts, request: withReason(request, reason), text, invalidAnswerCount: newCount, invalidAnswer }
}

function withReason(request: InputRequest, reason: string): InputRequest {
  if (request.method !== 'elicitation/create') return request
  return { ...request, params: { ...request.params, message: `${request.params.message}\n\n${reason}` } }
}
