import { createClient } from '@x/client'
import type { JsonObject } from '@x/core'
import type { HttpAuthorizer } from '@x/exchange'
import { createServer } from '@x/server'
import { describe, expect, test } from 'vitest'
import { openApiTools } from './index.ts'
import { apiUrl, callTool, documentOf } from './testing/api-kit.ts'

const byId = { path: '/things/{id}', method: 'delete' }
const remove = documentOf({ summary: 'Delete a thing', parameters: [{ name: 'id', in: 'path' }] }, byId)
const replaceBody = { content: { 'application/json': {} } }
const replace = documentOf({ requestBody: replaceBody }, { method: 'put' })
const everything = { confirm: () => true }

/** A credential that sends a token, and has a new one after each 401. */
function tokens(): HttpAuthorizer {
  let count = 1
  return {
    headers: () => ({ authorization: `Bearer ${count}` }),
    onResponse: ({ status }) => {
      if (status !== 401) return undefined
      count += 1
      return 'retry'
    },
  }
}

describe('a request that must be confirmed', () => {
  test('asks once, with the summary and the request as it will be sent', async () => {
    const { questions, requests } = await callTool(remove, { id: 'a b' })
    expect(questions).toEqual(['Delete a thing\nDELETE /things/a%20b'])
    expect(requests.map(({ method }) => method)).toEqual(['DELETE'])
  })

  test('shows the beginning of the body, without invisible characters', async () => {
    const { questions } = await callTool(replace, { body: `\u202E${'x'.repeat(500)}` }, { options: everything })
    expect(questions).toEqual([`PUT /things\n"${'x'.repeat(298)}…`])
  })

  test('sends nothing without the tick', async () => {
    const { requests, isError, text } = await callTool(remove, { id: 1 }, { form: { confirm: false } })
    expect([requests.length, isError, text]).toEqual([
      0,
      true,
      'The user did not confirm this request. Nothing was sent',
    ])
  })

  test.each([
    ['refuse', 0],
    ['call', 1],
  ] as const)('from a host without forms: %s', async (withoutForms, count) => {
    const { requests, isError } = await callTool(remove, { id: 1 }, { form: undefined, options: { withoutForms } })
    expect([requests.length, isError]).toEqual([count, count === 0])
  })

  test('other writes are left to the host', async () => {
    expect((await callTool(replace, { body: {} })).questions).toEqual([])
  })
})

describe('a write', () => {
  test('has the key of its step, which stays the same when the answer is sent again', async () => {
    const keys: (string | null)[] = []
    const tools = openApiTools(remove, {
      url: apiUrl,
      idempotencyHeader: 'Idempotency-Key',
      fetch: async (_, init) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'))
        return Response.json({})
      },
    })
    const server = createServer({ name: 'api', version: '1.0.0', tools })
    let isRepeated = false
    const client = createClient(server, {
      name: 'host',
      version: '1.0.0',
      elicit: () => ({ action: 'accept', content: { confirm: true } }),
      use: [
        (next) => async (request, call) => {
          const isAnswer = request.params?.['requestState'] !== undefined
          if (isAnswer && !isRepeated) {
            isRepeated = true
            await next(request, call)
          }
          return next(request, call)
        },
      ],
    })
    await client.callTool('act', { id: 1 })
    expect(keys).toEqual([expect.stringMatching(/\S{20,}/), keys[0]])
  })

  test('is marked as one that may be repeated only if the API honours the key', () => {
    const [plain] = openApiTools(replace, { url: apiUrl })
    const [keyed] = openApiTools(replace, { url: apiUrl, idempotencyHeader: 'Idempotency-Key' })
    expect([plain?.definition.keyedEffects, keyed?.definition.keyedEffects]).toEqual([undefined, true])
  })

  test('runs as a task if the author says so', () => {
    const [tool] = openApiTools(replace, {
      url: apiUrl,
      task: ({ method }) => (method === 'PUT' ? 'allowed' : 'never'),
    })
    expect(tool?.definition.task).toBe('allowed')
  })
})

describe('the credential', () => {
  test('is asked after 401, and the request is sent again', async () => {
    const { requests, text } = await callTool(
      replace,
      { body: {} },
      {
        options: { credential: tokens() },
        answer: (request) =>
          Response.json({}, { status: request.headers.get('authorization') === 'Bearer 2' ? 200 : 401 }),
      },
    )
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 1', 'Bearer 2'])
    expect(text).toBe('{}')
  })

  test('that is refused each time is asked for four attempts', async () => {
    const answer = (): Response => new Response(null, { status: 401 })
    const { requests, text } = await callTool(replace, {}, { options: { credential: tokens() }, answer })
    expect([requests.length, text]).toEqual([4, 'PUT /things failed with status 401'])
  })

  test('whose source fails is logged, and its address is hidden from the model', async () => {
    const failing = { ...tokens(), headers: () => Promise.reject(new Error('https://login.internal failed')) }
    const { requests, text } = await callTool(replace, {}, { options: { credential: failing } })
    expect([requests.length, text]).toEqual([0, 'There is no credential with which the API can be called'])
  })

  test('that no header can have is neither sent nor logged', async () => {
    const credential = { ...tokens(), headers: () => ({ authorization: 'Bearer SECRET\nx' }) }
    const { requests, text, logged } = await callTool(replace, {}, { options: { credential } })
    expect([requests.length, text]).toEqual([0, 'There is no credential with which the API can be called'])
    expect(logged).toEqual([expect.stringContaining('"authorization"')])
    expect(logged.join()).not.toContain('SECRET')
  })

  test('of a user without one opens the page of the login, and then has it', async () => {
    const opened: string[] = []
    const credential = (): HttpAuthorizer | { loginUrl: string } =>
      opened.length === 0 ? { loginUrl: 'https://login.example.com/1' } : tokens()
    const { requests } = await callTool(
      remove,
      { id: 1 },
      { options: { credential }, openPage: (url) => opened.push(url) },
    )
    expect(opened).toEqual(['https://login.example.com/1'])
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer 1'])
  })

  test('of a user whose host opens no pages is an address in the result', async () => {
    const credential = (): { loginUrl: string } => ({ loginUrl: 'https://login.example.com/1' })
    const { text, isError } = await callTool(remove, { id: 1 }, { options: { credential } })
    expect([text, isError]).toEqual(['Log in to api.example.com first: https://login.example.com/1', true])
  })

  test('and fixed headers win over arguments', async () => {
    const parameters: JsonObject[] = [{ name: 'x-tenant', in: 'header' }]
    const options = { headers: { 'X-Tenant': 'ours' }, credential: tokens() }
    const { requests } = await callTool(documentOf({ parameters }), {}, { options })
    expect(requests[0]?.headers.get('x-tenant')).toBe('ours')
  })
})

test('visibleTo hides a tool from other callers', async () => {
  const tools = openApiTools(remove, { url: apiUrl, visibleTo: () => (principal) => principal?.subject === 'admin' })
  const client = createClient(createServer({ name: 'api', version: '1.0.0', tools }), {
    name: 'host',
    version: '1.0.0',
  })
  expect(await client.listTools()).toEqual([])
})
