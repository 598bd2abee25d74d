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

/** Something that only the client can answer. */
export interface ClientQuestion<T> {
  /** The function that asks, for messages. */
  readonly functionName: string
  readonly request: InputRequest
  /** The request as JSON, where that is known already. */
  readonly text?: string
  /** The client capabilities that it needs. */
  readonly requiredCapabilities: ClientCapabilities
  /** Converts the answer for the handler. Runs again in every run. */
  readonly parseResponse: (response: JsonObject) => Awaitable<AnswerOutcome<T>>
}

/** An answer that is understood, one that does not fit, or one that is given too early. */
export type AnswerOutcome<T> = { readonly value: T } | { readonly problem: string } | { readonly pendingReason: string }

/** The number of times that a question with an invalid answer is asked again. */
const maxInvalidAnswers = 2

/**
 * The number of times that a question may change within a call: once for a new version of the handler, and once for the
 * old version. A third change means that it differs in every run.
 */
const maxQuestionChanges = 2

/**
 * The answer to a question, if the journal has it. Otherwise the run is suspended and the client asked. The client must
 * have declared that it can answer: an McpError (-32021) says what is missing (basic/patterns/mrtr, server
 * requirements).
 */
export async function answerQuestion<T>(run: Run, key: string, question: ClientQuestion<T>): Promise<T> {
  const text = question.text ?? JSON.stringify(question.request)
  registerContextUse(run, { kind: 'ask', functionName: question.functionName, key, text })
  const questionRecord = journalOf(run).questions.get(key)
  // An answer without a record came before anything was asked. It would pass for a consent that no user was asked for.
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

/** A question that would be asked again without end fails the call. */
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
  /** The reason why an answered question is asked once more. */
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

/** Checks an answer. Synchronously, unless the platform or the question takes time. */
function parseAnswer<T>(
  run: Run,
  key: string,
  { previousRecord, response, question, text }: ParseAnswerOptions<T>,
): Awaitable<ParsedAnswer<T>> {
  return mapAwaitable(fingerprintOf(text), (fingerprint): Awaitable<ParsedAnswer<T>> => {
    const record = previousRecord ?? { fingerprint, wireKeyCount: 1, invalidAnswerCount: 0, changeCount: 0, response }
    journalOf(run).questions.set(key, record)
    // The user answered another question: that of an earlier version, or one whose text is not repeatable.
    if (fingerprint !== record.fingerprint) return { changeCount: record.changeCount + 1 }
    // A copy: what a handler does to an answer must not change the journal.
    return mapAwaitable(question.parseResponse(cloneJson(response)), (answer) =>
      'problem' in answer ? { invalidAnswerCount: record.invalidAnswerCount + 1, reason: answer.problem } : answer,
    )
  })
}

/** The question once more, with the reason where a user reads it. */
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
