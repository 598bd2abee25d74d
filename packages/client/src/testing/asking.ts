import type { JsonObject } from '@x/schema'
import {
  type ReceivedRequest,
  createTextResult,
  type ScriptedExchange,
  createScriptedExchange,
} from './scripted-exchange.ts'

/** An `input_required` result. */
export const createInputRequired = (inputRequests?: JsonObject, requestState?: string): JsonObject => ({
  resultType: 'input_required',
  ...(inputRequests && { inputRequests }),
  ...(requestState !== undefined && { requestState }),
})

/** A request for a form with these fields. */
export const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  method: 'elicitation/create',
  params: { message: 'Tell me', requestedSchema: { type: 'object', properties, ...more } },
})

/** A request for a name. */
export const nameFormRequest: JsonObject = form({ name: { type: 'string' } }, { required: ['name'] })

/** A request to open a page. */
export const createUrlRequest = (url: string): JsonObject => ({
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go there', url },
})

/** A request to sample a model. */
export const createSamplingRequest = (more: JsonObject = {}): JsonObject => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Why?' } }], maxTokens: 10, ...more },
})

/** An exchange that returns its answers one after the other, and `done` after the last. */
export function createSequentialExchange(
  ...answers: readonly (JsonObject | ((received: ReceivedRequest) => JsonObject))[]
): ScriptedExchange {
  let next = 0
  return createScriptedExchange((received) => {
    const answer = answers[next]
    next += 1
    return typeof answer === 'function' ? answer(received) : (answer ?? createTextResult('done'))
  })
}

/** Runs the work that waits for promises alone. */
export async function flushPromises(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}
