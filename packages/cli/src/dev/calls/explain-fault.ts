import type { FaultKind } from '../wire/fault.ts'
import type { CallStatus } from '../events.ts'

export interface FaultyCall {
  readonly kind: FaultKind
  /** The fault met a request that carried an answer. */
  readonly isAnswer: boolean
  readonly status: CallStatus
  /** Requests of this call that reached the server after the fault. */
  readonly laterCount: number
  /** Annotation that lets the client repeat the tool. */
  readonly hint: 'readOnlyHint' | 'idempotentHint' | 'keyedEffects' | undefined
  readonly error: string | undefined
}

/** What the client did about a fault, why, and the annotation or guide that changes it. */
export function explainFault(call: FaultyCall): string {
  switch (call.kind) {
    case 'lose':
      return `The server answered, and the client never saw the response. ${explainResend(call)}`
    case 'kill':
      return `The process ended in the middle of the request. ${explainResend(call)}`
    case 'twice':
      return `The server received the same request twice, with the same idempotency key. ${explainCopy(call)}`
    case 'later':
      return explainLate(call)
    case 'argument':
      return explainRejection(call, 'another argument')
    case 'state':
      return explainRejection(call, 'a damaged state')
    case 'user':
      return call.isAnswer
        ? explainRejection(call, 'the state of another user')
        : 'The request had the token of another user. The server decides by that token alone who calls.'
  }
}

function explainCopy({ hint }: FaultyCall): string {
  if (hint === 'keyedEffects')
    return 'The tool sets keyedEffects, so its effect must have happened once: the service that it calls ignores a key that it has seen.'
  return hint === undefined
    ? 'If an effect happened twice, run it in ctx.step, pass the idempotencyKey of the step to the service that you call, and set keyedEffects: true. For authenticated callers, idempotency: { store } also returns the first result again (guide: idempotent calls).'
    : `The tool has the annotation ${hint}, which says that this does no harm.`
}

/** What to change about a call that failed at a process which knows nothing of the one before. */
export function findRemedy(error: string | undefined): string | undefined {
  if (error?.startsWith('Invalid or expired requestState') === true)
    return "Another process asked the question, with another key. Seal the state with the key that mcpx dev gives to all processes: createServer({ state: sealedState({ keys: process.env.STATE_KEYS.split(',') }) })."
  if (error?.startsWith('The server does not know the task') === true)
    return 'The task is in the memory of another process, or of one that has ended. Give tasks() a store for several instances, or start mcpx dev with --instances 1.'
  return undefined
}

function explainResend({ laterCount, hint, isAnswer }: FaultyCall): string {
  const subject = isAnswer ? 'the request with the answer' : 'it'
  if (laterCount > 0)
    return hint === undefined
      ? `The client sent ${subject} again, because the server had not begun it.`
      : `The client sent ${subject} again, with the same idempotency key, because the tool has ${hint}.`
  return hint === undefined
    ? `The client did not send ${subject} again, because the tool may have acted. If repeating it does no harm, give it the annotation idempotentHint, or readOnlyHint if it changes nothing. If its effects are steps that pass their idempotencyKey on, set keyedEffects: true (guide: idempotent calls).`
    : `The client did not send ${subject} again within its time limit.`
}

function explainLate({ status, error = '' }: FaultyCall): string {
  if (status === 'done' || status === 'tool_error')
    return 'The response was late, but still in time. A tool that takes long keeps the client waiting with ctx.progress().'
  return `The client gave up: ${error} A tool that takes long keeps the client waiting with ctx.progress(), or runs as a task.`
}

function explainRejection({ status }: FaultyCall, subject: string): string {
  return status === 'done'
    ? `The server accepted ${subject}. It must seal its state for the caller and the arguments, as sealedState does.`
    : `The server rejected ${subject}, with the error that it has for every state that it cannot use, and did nothing.`
}
