import type { Clock, InputRequest, InputResponse, InputResponses } from '@x/schema'
import type { InputRequired } from '../request/input-required.ts'
import { checkAnswer } from './check-answer.ts'
import { type CallErrorContext, ClientError, printableKey } from '../request/client-error.ts'
import { type Answerer, handlerFor } from './input-kinds.ts'
import type { ElicitAnswer, InputContext, InputHandlers } from '../request/input-handlers.ts'
import { openWait, whileOpen } from '../request/wait.ts'

/** Answers by the keys of a round's requests. */
export interface InputAnswers {
  readonly [key: string]: InputResponse | ElicitAnswer
}

/** The parameters of one round's answers. */
export interface AnsweringContext {
  readonly handlers: InputHandlers
  readonly errorContext: CallErrorContext
  readonly round: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
}

/**
 * Answers every request of a round at once. The first failure ends the round and aborts the open questions: nothing of
 * it is sent.
 */
export async function answerRequests(
  { requests }: InputRequired,
  answering: AnsweringContext,
): Promise<InputResponses> {
  const { handlers, errorContext, round, clock, signal, timeoutMs } = answering
  // Handlers are looked up before any is called: no user fills in a form for a round that cannot be answered.
  const questions = [...requests].map((entry) => ({ entry, ask: handlerFor(entry, handlers, errorContext) }))
  const late = (): ClientError => {
    const keys = [...requests.keys()].slice(0, 3).map(printableKey).join(', ')
    const why = `no answer to ${keys} within ${timeoutMs} ms; allow more with rounds.answerTimeoutMs`
    return new ClientError('timeout', why, errorContext)
  }
  const wait = openWait({ signal, timeoutMs, clock, late })
  const { method, target, server } = errorContext
  const contextOf = (key: string): InputContext => ({ key, method, target, round, signal: wait.signal, server })
  try {
    wait.signal.throwIfAborted()
    const answers = Promise.all(
      questions.map(({ entry, ask }) => answerOne(entry, { ask, context: contextOf(entry[0]), errorContext })),
    )
    return Object.fromEntries(await whileOpen(answers, wait.signal))
  } catch (error) {
    wait.stop(error)
    throw error
  } finally {
    wait.close()
  }
}

interface HandlerCall {
  readonly ask: Answerer
  readonly context: InputContext
  readonly errorContext: CallErrorContext
}

async function answerOne(
  entry: readonly [string, InputRequest],
  { ask, context, errorContext }: HandlerCall,
): Promise<[string, InputResponse]> {
  return [entry[0], responseTo(entry, await ask(context), errorContext)]
}

/**
 * Returns the answer to a request as it is sent; throws {@link ClientError} `invalid_answer` that names key and path.
 */
function responseTo(
  [key, request]: readonly [string, InputRequest],
  answer: unknown,
  errorContext: CallErrorContext,
): InputResponse {
  const checked = checkAnswer(request, answer)
  if ('response' in checked) return checked.response
  throw new ClientError(
    'invalid_answer',
    `the answer to ${printableKey(key)} is not valid at ${checked.issue}`,
    errorContext,
  )
}

/** Checks that there is exactly one valid answer for each request (basic/patterns/mrtr, client requirements). */
export function checkAnswers(
  { requests }: InputRequired,
  answers: InputAnswers,
  errorContext: CallErrorContext,
): InputResponses | undefined {
  const extra = Object.keys(answers).find((key) => !requests.has(key))
  if (extra !== undefined)
    throw new ClientError('invalid_answer', `unexpected key ${printableKey(extra)}`, errorContext)
  if (requests.size === 0) return undefined
  return Object.fromEntries(
    [...requests].map((entry) => {
      const [key] = entry
      if (Object.hasOwn(answers, key)) return [key, responseTo(entry, answers[key], errorContext)]
      throw new ClientError('invalid_answer', `there is no answer to ${printableKey(key)}`, errorContext)
    }),
  )
}
