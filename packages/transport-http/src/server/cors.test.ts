import { describe, expect, test } from 'vitest'
import { echo } from '../testing/exchanges.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'

const origin = 'https://app.example.org'
const options = { allowedOrigins: [origin] }

function ask(headers: Readonly<Record<string, string>>) {
  return createPostRequest(
    '',
    {},
    { httpMethod: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST', ...headers } },
  )
}

describe.each(serveFunctions)('%s', (_, serve) => {
  test('a preflight is answered with the names of the headers that may be sent', async () => {
    await using handler = await serve(echo, options)
    const asked = 'authorization,content-type,mcp-protocol-version,Mcp-Method,mcp-name,mcp-param-region,mcp-note,x-evil'
    const { status, headers, body } = await handler.send(ask({ 'access-control-request-headers': asked }))
    expect([status, body]).toEqual([204, ''])
    expect(headers.get('access-control-allow-origin')).toBe(origin)
    expect(headers.get('access-control-allow-methods')).toBe('POST')
    expect(headers.get('access-control-allow-headers')).toBe(
      'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-param-region, mcp-note',
    )
    expect(headers.get('vary')).toBe('Origin')
  })

  test('a text that is not a header name is not repeated to the browser', async () => {
    await using handler = await serve(echo, options)
    const { headers } = await handler.send(ask({ 'access-control-request-headers': 'mcp-param-a b, mcp-param-(, ,' }))
    expect(headers.get('access-control-allow-headers')).toBeNull()
  })

  test('a page of an allowed origin may read answers and errors, and no other origin is named', async () => {
    await using handler = await serve(echo, options)
    const good = await handler.send(createPostRequest('tools/list', {}, { headers: { origin } }))
    const bad = await handler.send(createPostRequest('tools/list', {}, { headers: { origin, 'mcp-method': 'x' } }))
    const verb = await handler.send(createPostRequest('tools/list', {}, { httpMethod: 'DELETE', headers: { origin } }))
    const foreign = await handler.send(
      createPostRequest('tools/list', {}, { headers: { origin: 'https://evil.test' } }),
    )
    const allowed = [good, bad, verb, foreign].map((each) => [
      each.status,
      each.headers.get('access-control-allow-origin'),
    ])
    expect(allowed).toEqual([
      [200, origin],
      [400, origin],
      [405, origin],
      [403, null],
    ])
    expect(good.headers.get('access-control-expose-headers')).toBe(
      'WWW-Authenticate, Retry-After, DPoP-Nonce, Mcp-Session-Id',
    )
    expect(good.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('a stream carries the headers as well', async () => {
    await using handler = await serve(async (request, call) => {
      call.notify({ jsonrpc: '2.0', method: 'notifications/progress' })
      return echo(request, call)
    }, options)
    const received = await handler.send(createPostRequest('tools/list', {}, { headers: { origin } }))
    expect(received.headers.get('content-type')).toBe('text/event-stream')
    expect(received.headers.get('access-control-allow-origin')).toBe(origin)
  })

  test('a page may send proofs and trace context, and no cookies', async () => {
    await using handler = await serve(echo, options)
    const asked = 'DPoP, TraceParent, tracestate, baggage, x-other'
    const { headers } = await handler.send(ask({ 'access-control-request-headers': asked }))
    expect(headers.get('access-control-allow-headers')).toBe('dpop, traceparent, tracestate, baggage')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    expect(headers.get('access-control-max-age')).toBe('600')
  })

  test('a foreign page that asks is refused', async () => {
    await using handler = await serve(echo, options)
    expect((await handler.send(ask({ origin: 'https://evil.test' }))).status).toBe(403)
  })
})
