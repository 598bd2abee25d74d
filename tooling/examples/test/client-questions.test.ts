import { isClientError } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { expect, test } from 'vitest'
import { createAskable, resumeCall, startCall } from '../src/client-questions.ts'

const question: JsonObject = {
  resolution: {
    method: 'elicitation/create',
    params: {
      message: 'How was it resolved?',
      requestedSchema: {
        type: 'object',
        properties: { resolution: { type: 'string', enum: ['Fixed', 'Duplicate'] } },
        required: ['resolution'],
      },
    },
  },
  login: {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Log in first', url: 'https://example.com/login' },
  },
}

/** Creates an exchange that asks for the given keys, and then returns the answers. */
const createAskingExchange = (...keys: readonly string[]): Exchange => {
  return async ({ id, params }) => {
    const responses = params?.['inputResponses']
    const result =
      responses === undefined
        ? {
            resultType: 'input_required',
            requestState: 'opaque',
            inputRequests: Object.fromEntries(keys.map((key) => [key, question[key]])),
          }
        : { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(responses) }] }
    return { jsonrpc: '2.0', id, result }
  }
}

test('forms and URLs are answered by their handlers', async () => {
  const client = createAskable(createAskingExchange('resolution', 'login'), {
    form: async ({ message }) => (message === 'How was it resolved?' ? { resolution: 'Fixed' } : undefined),
    url: async ({ host }) => host === 'example.com',
  })
  const { content } = await client.callTool('resolve', { id: 1 })
  const answers = { resolution: { action: 'accept', content: { resolution: 'Fixed' } }, login: { action: 'accept' } }
  expect(content).toEqual([{ type: 'text', text: JSON.stringify(answers) }])
})

test('an answer that does not match the form is not sent', async () => {
  const client = createAskable(createAskingExchange('resolution'), {
    form: async () => ({ resolution: 'Unknown' }),
    url: async () => false,
  })
  const failure: unknown = await client.callTool('resolve', { id: 1 }).catch((error: unknown) => error)
  expect(isClientError(failure) && failure.code).toBe('invalid_answer')
})

test('a stored call continues in another process', async () => {
  let stored = ''
  const store = async (pending: string): Promise<void> => {
    stored = pending
  }
  expect(await startCall(createAskingExchange('resolution'), store)).toBe('waits for resolution')
  expect(await resumeCall(createAskingExchange('resolution'), stored, { resolution: 'Duplicate' })).toBe('complete')
})
