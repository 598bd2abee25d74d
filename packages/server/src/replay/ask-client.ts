import { cloneJson, quoteName } from '@x/core'
import { type ClientCapabilities, errorCodes, type InputRequest, type JsonObject, McpError } from '@x/schema'
import { mapAwaitable, type Awaitable, isPromiseLike } from '../request/awaitable.ts'
import { requireCapabilities } from './served-request.ts'
import { fingerprintOf } from './call-identity.ts'
import type { QuestionRecord } from './journal.ts'
import {
  type AskedQuestion,
  addQuestion,
  registerContextUse,
  failRun,
  journalOf,
  type Run,
  lateUseError,
  trackAnswerParsing,
} from './run.ts'

/** A question to the client, and how to read its answer. */
export interface ClientQuestion<T> {
  /** The `ctx` function that asks, for error messages. */
  readonly functionName: string
  readonly request: InputRequest
  /** The JSON of the request, if the caller already has it. */
  readonly text?: string
  /** The capabilities that a client needs for answering the question. */
  readonly requiredCapabilities: ClientCapabilities
  /** Checks the client's answer and converts it for the handler. Called in every run. */
  readonly parseResponse: (response: JsonObject) => Awaitable<AnswerOutcome<T>>
}

/**
 * The outcome of reading an answer: its value, the problem of an invalid answer, or the reason why the answer came too
 * early.
 */
export type AnswerOutcome<T> = { readonly value: T } | { readonly problem: string } | { readonly pendingReason: string }

/** The maximum number of times that a question is asked again because its answer was invalid. */
const maxInvalidAnswers = 2

/**
 * The maximum number of times that the text of a question may change within a call. A new version of the handler
 * changes it once, and an old version that continues the call changes it back. A third change means that the text
 * differs in every run.
 */
const maxQuestionChanges = 2

/**
 * Returns the answer to a question if the journal contains the answer. Otherwise suspends the run, so that the client
 * is asked. Throws an `McpError` (-32021) if the client has not declared the required capabilities
 * (basic/patterns/mrtr, server requirements).
 */
export async function answerQuestion<T>(run: Run, key: string, question: ClientQuestion<T>): Promise<T> {
  const text = question.text ?? JSON.stringify(question.request)
  registerContextUse(run, { kind: 'ask', functionName: question.functionName, key, text })
  const questionRecord = journalOf(run).questions.get(key)
  // Only answers to recorded questions are used. An answer that the client sends without being asked could pass for a
  // consent that no user gave.
  const response = questionRecord?.response
  if (response === undefined) return suspendForAnswer(run, key, { question, text, previousRecord: questionRecord })
  const parsedAnswer = parseAnswer(run, key, { previousRecord: questionRecord, response, question, text })
  const outcome = isPromiseLike(parsedAnswer) ? await trackAnswerParsing(run, parsedAnswer) : parsedAnswer
  if (run.phase !== 'running') throw lateUseError(run, question.functionName)
  if ('value' in outcome) return outcome.value
  rejectEndlessQuestion(run, { key, text, repeatReason: outcome })
  return suspendForAnswer(run, key, {
    question,
    text,
    previousRecord: journalOf(run).questions.get(key),
    repeatReason: outcome,
  })
}

interface RepeatedQuestion {
  readonly key: string
  readonly text: string
  readonly repeatReason: RepeatReason
}

/**
 * Throws if a question has changed too often or has received too many invalid answers, so that it is not asked without
 * end.
 */
function rejectEndlessQuestion(run: Run, { key, text, repeatReason }: RepeatedQuestion): void {
  if ('changeCount' in repeatReason && repeatReason.changeCount > maxQuestionChanges) {
    const reason = `asks "${key}" another way in every run: keep times and random values out of messages and schemas`
    throw failRun(run, 'question', `${quoteName(run.name)} ${reason}. Now it asks: ${text.slice(0, 500)}`)
  }
  if ('invalidAnswerCount' in repeatReason && repeatReason.invalidAnswerCount > maxInvalidAnswers) {
    throw new McpError(errorCodes.invalidParams, `The answer to "${key}" does not fit: ${repeatReason.reason}`)
  }
}

interface PendingQuestion<T> {
  readonly question: ClientQuestion<T>
  readonly text: string
  readonly previousRecord: QuestionRecord | undefined
  /** The reason why an answered question is asked again. */
  readonly repeatReason?: RepeatReason | undefined
}

type RepeatReason =
  | { readonly changeCount: number }
  | { readonly invalidAnswerCount: number; readonly reason: string }
  | { readonly pendingReason: string }

function suspendForAnswer<T>(
  run: Run,
  key: string,
  { question, text, previousRecord, repeatReason }: PendingQuestion<T>,
): Promise<never> {
  requireCapabilities(question.requiredCapabilities, run.request)
  const { wireKeyCount, invalidAnswerCount, changeCount } = previousRecord ?? {
    wireKeyCount: 1,
    invalidAnswerCount: 0,
    changeCount: 0,
  }
  const askedQuestion: AskedQuestion = {
    request: repeatReason === undefined ? question.request : withRepeatReason(question.request, repeatReason),
    text,
    wireKeyCount: repeatReason === undefined ? wireKeyCount : wireKeyCount + 1,
    invalidAnswerCount:
      repeatReason && 'invalidAnswerCount' in repeatReason ? repeatReason.invalidAnswerCount : invalidAnswerCount,
    changeCount: repeatReason && 'changeCount' in repeatReason ? repeatReason.changeCount : changeCount,
  }
  return addQuestion(run, key, askedQuestion)
}

type ParsedAnswer<T> = { readonly value: T } | RepeatReason

interface ParseAnswerOptions<T> {
  readonly previousRecord: QuestionRecord | undefined
  readonly response: JsonObject
  readonly question: ClientQuestion<T>
  readonly text: string
}

/**
 * Reads an answer. Returns its value, or the reason to ask again. Returns a promise only if the platform's digest or
 * the question's `parseResponse` is asynchronous.
 */
function parseAnswer<T>(
  run: Run,
  key: string,
  { previousRecord, response, question, text }: ParseAnswerOptions<T>,
): Awaitable<ParsedAnswer<T>> {
  return mapAwaitable(fingerprintOf(text), (fingerprint): Awaitable<ParsedAnswer<T>> => {
    const record = previousRecord ?? { fingerprint, wireKeyCount: 1, invalidAnswerCount: 0, changeCount: 0, response }
    journalOf(run).questions.set(key, record)
    // The user answered a question with another text. Either another version of the handler asked it, or its text
    // differs in every run.
    if (fingerprint !== record.fingerprint) return { changeCount: record.changeCount + 1 }
    // Reads a copy, so that a handler that changes the answer does not change the journal.
    return mapAwaitable(question.parseResponse(cloneJson(response)), (answer) =>
      'problem' in answer ? { invalidAnswerCount: record.invalidAnswerCount + 1, reason: answer.problem } : answer,
    )
  })
}

/**
 * Returns the request with the reason appended to the message that the user reads. Only elicitations have such a
 * message.
 */
function withRepeatReason(request: InputRequest, repeatReason: RepeatReason): InputRequest {
  const reason =
    'reason' in repeatReason
      ? repeatReason.reason
      : 'pendingReason' in repeatReason
        ? repeatReason.pendingReason
        : undefined
  if (reason === undefined || request.method !== 'elicitation/create') return request
  return { ...request, params: { ...request.params, message: `${request.params.message}\n\n${reason}` } }
}
