import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { AzureDevOpsError } from './azure-devops-error.ts'
import { basicAuthorization } from './connection.ts'
import { createSend, type RestCall } from './send.ts'

interface Answer {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

const json = { 'content-type': 'application/json' }
const good: Answer = { status: 200, headers: json, body: '{"ok":true}' }
const authorization = basicAuthorization('s3cret-token')

describe('a failed answer', () => {
  test.each<[string, Answer, string, string]>([
    [
      '203 with the sign-in page',
      { status: 203, headers: { 'content-type': 'text/html' } },
      'unauthorized',
      'sign-in page',
    ],
    [
      '302 to the sign-in page',
      { status: 302, headers: { location: '/_signin' } },
      'unauthorized',
      'AZURE_DEVOPS_TOKEN',
    ],
    ['200 with a page', { status: 200, headers: { 'content-type': 'text/html' } }, 'unauthorized', 'sign-in page'],
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
    const error = await failureOf(service.send(get(service.url)))
    expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)])
    expect(`${error.message} ${error.stack}`).not.toContain('s3cret-token')
  })

  test('names the fields that broke a rule', async () => {
    const body = JSON.stringify({
      message: 'TF401320: Rule Error for field Title.',
      typeKey: 'RuleValidationException',
      customProperties: { RuleValidationErrors: [{ fieldReferenceName: 'System.Title', errorMessage: 'Required' }] },
    })
    await using service = await serve([{ status: 400, body }])
    const error = await failureOf(service.send({ ...get(service.url), method: 'PATCH', body: [] }))
    expect([error.code, error.violations]).toEqual(['rule', [{ field: 'System.Title', message: 'Required' }]])
  })

  test('is an answer beyond the bound', async () => {
    await using service = await serve([{ ...good, body: `"${'x'.repeat(100)}"` }], { bytes: 101 })
    expect((await failureOf(service.send(get(service.url)))).message).toContain('more than 101 bytes')
  })
})

describe('an overloaded service', () => {
  const overloaded = { status: 503, headers: { 'retry-after': '0' } }

  test('is asked again when nothing can have happened', async () => {
    await using service = await serve([overloaded, { status: 429, headers: { 'retry-after': '0' } }, good])
    expect(await service.send(get(service.url))).toEqual({ ok: true })
    expect(service.requests).toHaveLength(3)
  })

  test.each([
    ['a change', { method: 'PATCH', body: [] }, 1],
    ['a query', { method: 'POST', body: {} }, 1],
    ['reading, after its attempts are used up', { method: 'GET' }, 3],
  ] as const)('is not asked again for %s', async (_, call, requests) => {
    await using service = await serve([overloaded, overloaded, overloaded, good])
    expect((await failureOf(service.send({ ...get(service.url), ...call }))).code).toBe('unavailable')
    expect(service.requests).toHaveLength(requests)
  })

  test('is not waited for longer than the limit', async () => {
    await using service = await serve([{ status: 503, headers: { 'retry-after': '3600' } }, good])
    expect((await failureOf(service.send(get(service.url)))).code).toBe('unavailable')
    expect(service.requests).toHaveLength(1)
  })
})

test('each request carries the token, and a body its media type', async () => {
  await using service = await serve([good])
  await service.send({ ...get(service.url), method: 'PATCH', body: [], contentType: 'application/json-patch+json' })
  expect(service.requests[0]).toMatchObject({ authorization, 'content-type': 'application/json-patch+json' })
})

test('a cancelled call rejects with the reason of its signal', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  await using service = await serve([{ status: 503, headers: { 'retry-after': '5' } }], {}, () =>
    controller.abort(reason),
  )
  await expect(service.send({ ...get(service.url), signal: controller.signal })).rejects.toBe(reason)
  await expect(service.send({ ...get(service.url), signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
})

test('a service that cannot be reached is not available', async () => {
  await using service = await serve([])
  const { url } = service
  await service[Symbol.asyncDispose]()
  const error = await failureOf(service.send(get(url)))
  expect([error.code, error.message]).toEqual(['unavailable', expect.stringContaining('could not be reached')])
})

function get(url: string): RestCall {
  return { method: 'GET', url, signal: new AbortController().signal }
}

async function failureOf(promise: Promise<unknown>): Promise<AzureDevOpsError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof AzureDevOpsError) return error
  throw new Error(`it should have failed with AzureDevOpsError, not ${String(error)}`)
}

async function serve(answers: readonly Answer[], limits = {}, onRequest = () => {}) {
  const requests: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    const answer = answers[requests.length] ?? { status: 500 }
    requests.push(request.headers)
    onRequest()
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  return {
    requests,
    url: `http://127.0.0.1:${port}/x`,
    send: createSend(authorization, limits),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
