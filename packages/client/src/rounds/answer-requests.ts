import { openAbortScope, quoteText, raceWithCancellation } from '@x/core'
import type { InputRequest, InputResponse, InputResponses } from '@x/schema'
import type { CallOptions } from '../request/call-options.ts'
import type { ClientEvents } from '../request/client-event.ts'
import type { InputRequired } from '../request/input-required.ts'
import { checkAnswer } from './check-answer.ts'
import { type CallErrorContext, ClientError } from '../request/client-error.ts'
import { type Answerer, requireAnswerer } from './input-kinds.ts'
import { type ElicitAnswer, type InputContext, mergeHandlers } from '../request/input-handlers.ts'
import type { RoundsContext } from './send-round.ts'

/** Answers, by the keys of a round's requests. */
export interface InputAnswers {
  readonly [key: string]: InputResponse | ElicitAnswer
}

/**
 * Calls the handlers of a round all at once. The first failure aborts the others, and no answer of the round is sent.
 */
export async function answerRequests(
  { requests }: InputRequired,
  call: { readonly errorContext: CallErrorContext; readonly round: number; readonly options: CallOptions },
  context: RoundsContext,
): Promise<InputResponses> {
  const { errorContext, round, options } = call
  const handlers = mergeHandlers(context.options, options)
  // All are looked up before any runs. A user should not fill in a form for a round that cannot be answered.
  const requestsWithHandlers = [...requests].map((entry) => ({
    entry,
    ask: requireAnswerer(entry, handlers, errorContext),
  }))
  const abortScope = openAbortScope(options.signal)
  const { method, target, server } = errorContext
  const inputContextOf = (key: string): InputContext => ({
    key,
    method,
    target,
    round,
    signal: abortScope.signal,
    server,
  })
  try {
    abortScope.signal.throwIfAborted()
    const answers = Promise.all(
      requestsWithHandlers.map(({ entry, ask }) =>
        answerInputRequest(entry, ask, inputContextOf(entry[0]), { options, context }),
      ),
    )
    return Object.fromEntries(await raceWithCancellation(answers, abortScope.signal))
  } catch (error) {
    abortScope.stop(error)
    throw error
  } finally {
    abortScope.close()
  }
}

async function answerInputRequest(
  entry: readonly [string, InputRequest],
  answerer: Answerer,
  inputContext: InputContext,
  { options, context }: { readonly options: CallOptions; readonly context: RoundsContext },
): Promise<[string, InputResponse]> {
  const { runtime: clock } = context.options
  const askedAt = clock.monotonicNow()
  const emitAnswer = (action: ClientEvents['answer']['action']): void => {
    const [key, { method: kind }] = entry
    const { method, target } = inputContext
    const durationMs = clock.monotonicNow() - askedAt
    context.events.emit?.({ type: 'answer', method, target, options, key, kind, action, durationMs })
  }
  const answer = await answerer(inputContext)
  try {
    const response = parseInputResponse(entry, answer, inputContext)
    emitAnswer('action' in response ? response.action : 'accept')
    return [entry[0], response]
  } catch (error) {
    emitAnswer('invalid')
    throw error
  }
}

function parseInputResponse(
  [key, request]: readonly [string, InputRequest],
  answer: unknown,
  errorContext: CallErrorContext,
): InputResponse {
  const checkedAnswer = checkAnswer(request, answer)
  if ('response' in checkedAnswer) return checkedAnswer.response
  throw new ClientError(
    'invalid_answer',
    `the answer to ${quoteText(key)} is not valid at ${checkedAnswer.issue}`,
    errorContext,
  )
}

/** Checks that each request has exactly one valid answer (basic/patterns/mrtr, client requirements). */
export function toInputResponses(
  { requests }: InputRequired,
  answers: InputAnswers,
  errorContext: CallErrorContext,
): InputResponses | undefined {
  const unknownKey = Object.keys(answers).find((key) => !requests.has(key))
  if (unknownKey !== undefined)
    throw new ClientError('invalid_answer', `unexpected key ${quoteText(unknownKey)}`, errorContext)
  if (requests.size === 0) return undefined
  return Object.fromEntries(
    [...requests].map((entry) => {
      const [key] = entry
      if (Object.hasOwn(answers, key)) return [key, parseInputResponse(entry, answers[key], errorContext)]
      throw new ClientError('invalid_answer', `there is no answer to ${quoteText(key)}`, errorContext)
    }),
  )
}
