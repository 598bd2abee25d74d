import type { Clock, InputRequest, InputResponse, InputResponses } from '@x/schema'
import type { Asked } from './asked.ts'
import { checkAnswer } from './check-answer.ts'
import { type CallPlace, ClientError } from '../client-error.ts'
import { type Answerer, answererOf } from './input-kinds.ts'
import type { ElicitAnswer, InputContext, InputHandlers } from './input-handlers.ts'
import { openWait, whileOpen } from './wait.ts'
import { shownKey } from '../word-failure.ts'

/** Answers by the keys of a round's requests. */
export interface InputAnswers {
  readonly [key: string]: InputResponse | ElicitAnswer
}

/** What answering one round takes. */
export interface Answering {
  readonly handlers: InputHandlers
  readonly place: CallPlace
  readonly round: number
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number | undefined
}

/**
 * Answers every request of a round, all at once. The first that fails ends the round, and with it the questions that are
 * still open: nothing of it is sent.
 */
export async function answerRequests({ requests }: Asked, answering: Answering): Promise<InputResponses> {
  const { handlers, place, round, clock, signal, timeoutMs } = answering
  // Found for all before any is asked: nobody fills in a form for a round that cannot be answered.
  const questions = [...requests].map((entry) => ({ entry, ask: answererOf(entry, handlers, place) }))
  const late = (): ClientError => {
    const keys = [...requests.keys()].slice(0, 3).map(shownKey).join(', ')
    const why = `no answer to ${keys} within ${timeoutMs} ms; allow more with rounds.answerTimeoutMs`
    return new ClientError('timeout', why, place)
  }
  const wait = openWait({ signal, timeoutMs, clock, late })
  const { method, target, server } = place
  const contextOf = (key: string): InputContext => ({ key, method, target, round, signal: wait.signal, server })
  try {
    wait.signal.throwIfAborted()
    const answers = Promise.all(
      questions.map(({ entry, ask }) => answerOne(entry, { ask, context: contextOf(entry[0]), place })),
    )
    return Object.fromEntries(await whileOpen(answers, wait.signal))
  } catch (error) {
    wait.stop(error)
    throw error
  } finally {
    wait.close()
  }
}

interface Asking {
  readonly ask: Answerer
  readonly context: InputContext
  readonly place: CallPlace
}

async function answerOne(
  entry: readonly [string, InputRequest],
  { ask, context, place }: Asking,
): Promise<[string, InputResponse]> {
  return [entry[0], responseTo(entry, await ask(context), place)]
}

/** The answer to a request as it is sent; throws {@link ClientError} `invalid_answer` that names key and path. */
function responseTo([key, request]: readonly [string, InputRequest], answer: unknown, place: CallPlace): InputResponse {
  const checked = checkAnswer(request, answer)
  if ('response' in checked) return checked.response
  throw new ClientError('invalid_answer', `the answer to ${shownKey(key)} is not valid at ${checked.issue}`, place)
}

/** Exactly one good answer for each request (basic/patterns/mrtr, client requirements). */
export function checkAnswers({ requests }: Asked, answers: InputAnswers, place: CallPlace): InputResponses | undefined {
  const extra = Object.keys(answers).find((key) => !requests.has(key))
  if (extra !== undefined) throw new ClientError('invalid_answer', `nobody asked ${shownKey(extra)}`, place)
  if (requests.size === 0) return undefined
  return Object.fromEntries(
    [...requests].map((entry) => {
      const [key] = entry
      if (Object.hasOwn(answers, key)) return [key, responseTo(entry, answers[key], place)]
      throw new ClientError('invalid_answer', `there is no answer to ${shownKey(key)}`, place)
    }),
  )
}
