import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { basicAuthorization } from './connection.ts'
import { createSend, type RestCall, type SendLimits } from './send.ts'

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

const json = { 'content-type': 'application/json' }
const html = { 'content-type': 'text/html' }
const good: Answer = { status: 200, headers: json, body: '{"ok":true}' }
const authorization = basicAuthorization('s3cret-token')

describe('a failed answer', () => {
  test.each<[string, Answer, string, string]>([
    ['203 with the sign-in page', { status: 203, headers: html }, 'unauthorized', 'sign-in page'],
    ['302 to it', { status: 302, headers: { location: '/_signin' } }, 'unauthorized', 'AZURE_DEVOPS_TOKEN'],
    ['200 with a page', { status: 200, headers: html }, 'unauthorized', 'sign-in page'],
    ['401', { status: 401 }, 'unauthorized', 'rejected the access token'],
    ['403', { status: 403, body: '{"message":"TF401027: You need the Edit permission."}' }, 'forbidden', 'TF401027'],
    ['404', { status: 404, body: '{"message":"TF401232: Work item 1 does not exist."}' }, 'not_found', 'TF401232'],
    ['409', { status: 409 }, 'conflict', 'Another user changed'],
    ['412', { status: 412, body: '{"message":"VS403351: Test failed."}' }, 'conflict', 'VS403351'],
    ['400', { status: 400, body: '{"message":"TF51535: Cannot find field X."}' }, 'invalid', 'TF51535'],
    ['400 without JSON', { status: 400, body: 'Bad Request' }, 'invalid', 'rejected the request (400)'],
    ['500', { status: 500, body: '{"message":"stack"}' }, 'unavailable', 'try again later'],
    ['something else than JSON', { status: 200, headers: json, body: '{' }, 'unexpected', 'other than JSON'],
  ])('%s becomes an error that says what to do', async (_, answer, code, message) => {
    await using service = await serve([answer])
    const error = await service.send().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'AzureDevOpsError', code, message: expect.stringContaining(message) })
    expect(inspect(error)).not.toContain('s3cret-token')
  })

  test('names the fields that broke a rule', async () => {
    const body = JSON.stringify({
      message: 'TF401320: Rule Error for field Title.',
      typeKey: 'RuleValidationException',
      customProperties: { RuleValidationErrors: [{ fieldReferenceName: 'System.Title', errorMessage: 'Required' }] },
    })
    await using service = await serve([{ status: 400, body }])
    const violations = [{ field: 'System.Title', message: 'Required' }]
    await expect(service.send({ method: 'PATCH', body: [] })).rejects.toMatchObject({ code: 'rule', violations })
  })

  test('is an answer beyond the bound', async () => {
    await using service = await serve([{ ...good, body: `"${'x'.repeat(100)}"` }], { bytes: 101 })
    await expect(service.send()).rejects.toThrow('more than 101 bytes')
  })
})

describe('an overloaded service', () => {
  const overloaded = { status: 503, headers: { 'retry-after': '0' } }

  test('is asked again when nothing can have happened', async () => {
    await using service = await serve([overloaded, { ...overloaded, status: 429 }, good])
    expect(await service.send()).toEqual({ ok: true })
    expect(service.requests).toHaveLength(3)
  })

  test.each<[string, Partial<RestCall>, string, number]>([
    ['for a change', { method: 'PATCH', body: [] }, '0', 1],
    ['for a query', { method: 'POST', body: {} }, '0', 1],
    ['after the attempts are used up', {}, '0', 3],
    ['after a pause that is longer than the limit', {}, '3600', 1],
  ])('is not asked again %s', async (_, call, seconds, requests) => {
    const answer = { status: 503, headers: { 'retry-after': seconds } }
    await using service = await serve([answer, answer, answer, good])
    await expect(service.send(call)).rejects.toMatchObject({ code: 'unavailable' })
    expect(service.requests).toHaveLength(requests)
  })
})

test('each request carries the token, and a body its media type', async () => {
  await using service = await serve([good])
  await service.send({ method: 'PATCH', body: [], contentType: 'application/json-patch+json' })
  expect(service.requests[0]).toMatchObject({ authorization, 'content-type': 'application/json-patch+json' })
})

test('a cancelled call rejects with the reason of its signal', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  await using service = await serve([{ status: 503, headers: { 'retry-after': '5' } }], {}, () =>
    controller.abort(reason),
  )
  await expect(service.send({ signal: controller.signal })).rejects.toBe(reason)
  await expect(service.send({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

test('a service that cannot be reached is not available', async () => {
  await using service = await serve([])
  await service[Symbol.asyncDispose]()
  const message = expect.stringContaining('could not be reached')
  await expect(service.send()).rejects.toMatchObject({ code: 'unavailable', message })
})

async function serve(answers: readonly Answer[], limits: Partial<SendLimits> = {}, onRequest = () => {}) {
  const requests: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    const answer = answers[requests.length] ?? { status: 500 }
    requests.push(request.headers)
    onRequest()
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
  const send = createSend(authorization, limits)
  const { signal } = new AbortController()
  return {
    requests,
    /** Sends a call: a GET, unless the call says otherwise. */
    send: (call: Partial<RestCall> = {}) => send({ method: 'GET', url, signal, ...call }),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
