import { type Call, type CallHeaders, callHeadersKey, type Exchange } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { createProgressNotification, resultOf } from '../testing/exchanges.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'

const serving =
  (use: (headers: CallHeaders, call: Call) => void): Exchange =>
  async (request, call) => {
    const headers = call.context.get(callHeadersKey)
    if (headers !== undefined) use(headers, call)
    return resultOf(request)
  }

describe.each(serveFunctions)('%s', (_, serve) => {
  test('shows an exchange the Mcp-* headers of its request, and none of the others', async () => {
    const seen = new Map<string, string | undefined>()
    const exchange = serving((headers) => {
      headers.forEach((value, name) => void seen.set(name, value))
      for (const name of ['MCP-Note', 'authorization', 'mcp-none']) seen.set(`get ${name}`, headers.get(name))
    })
    await using handler = await serve(exchange)
    await handler.send(
      createPostRequest('tools/list', {}, { headers: { 'Mcp-Note': 'x', authorization: 'Bearer secret' } }),
    )
    expect([...seen].toSorted()).toEqual([
      ['get MCP-Note', 'x'],
      ['get authorization', undefined],
      ['get mcp-none', undefined],
      ['mcp-method', 'tools/list'],
      ['mcp-note', 'x'],
      ['mcp-protocol-version', '2026-07-28'],
    ])
  })

  test('puts beside the answer what an exchange has repeated, the last of each name', async () => {
    const exchange = serving((headers) => {
      headers.setResponseHeader?.('Mcp-Note', 'first')
      headers.setResponseHeader?.('mcp-note', 'second')
      headers.setResponseHeader?.('Mcp-Other', 'x')
    })
    await using handler = await serve(exchange)
    const { headers } = await handler.send(createPostRequest('tools/list'))
    expect([headers.get('mcp-note'), headers.get('mcp-other')]).toEqual(['second', 'x'])
  })

  test('puts it before a stream too, if it comes before the stream has begun, and leaves it out after that', async () => {
    const exchange = serving((headers, call) => {
      headers.setResponseHeader?.('Mcp-Early', 'x')
      call.notify(createProgressNotification(1))
      headers.setResponseHeader?.('Mcp-Late', 'x')
    })
    await using handler = await serve(exchange)
    const { headers } = await handler.send(createPostRequest('tools/list'))
    expect([headers.get('content-type'), headers.get('mcp-early'), headers.get('mcp-late')]).toEqual([
      'text/event-stream',
      'x',
      null,
    ])
  })

  test.each([
    ['a name outside Mcp-*', 'Set-Cookie', 'a=b'],
    ['no name', 'Mcp-', 'x'],
    ['a line end in a name', 'Mcp-A\r\nX-Evil', 'x'],
    ['a line end in a value', 'Mcp-Note', 'x\r\nX-Evil: 1'],
    ['a character outside ASCII', 'Mcp-Note', 'ü'],
  ])('refuses %s for it', async (_title, name, value) => {
    let thrown: unknown
    const exchange = serving((headers) => {
      try {
        headers.setResponseHeader?.(name, value)
      } catch (error) {
        thrown = error
      }
    })
    await using handler = await serve(exchange)
    const { headers } = await handler.send(createPostRequest('tools/list'))
    expect(thrown).toBeInstanceOf(TypeError)
    expect([headers.get('mcp-note'), headers.get('x-evil'), headers.get('set-cookie')]).toEqual([null, null, null])
  })
})
