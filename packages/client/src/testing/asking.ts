import type { JsonObject } from '@x/schema'
import {
  type ReceivedRequest,
  createTextResult,
  type ScriptedExchange,
  createScriptedExchange,
} from './scripted-exchange.ts'

export const createInputRequired = (inputRequests?: JsonObject, requestState?: string): JsonObject => ({
  resultType: 'input_required',
  ...(inputRequests && { inputRequests }),
  ...(requestState !== undefined && { requestState }),
})

export const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  method: 'elicitation/create',
  params: { message: 'Tell me', requestedSchema: { type: 'object', properties, ...more } },
})

export const nameFormRequest: JsonObject = form({ name: { type: 'string' } }, { required: ['name'] })

export const createUrlRequest = (url: string): JsonObject => ({
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go there', url },
})

export const createSamplingRequest = (more: JsonObject = {}): JsonObject => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'Why?' } }], maxTokens: 10, ...more },
})

/** Gives these answers one after the other, and then `done` to each further request. */
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

/** Runs all pending work that waits only for promises. */
export async function flushPromises(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}
