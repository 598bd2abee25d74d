import { PassThrough } from 'node:stream'
import type { Exchange } from '@x/exchange'
import { errorCodes, McpError, parseMessage } from '@x/schema'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { waitForAbort } from '../testing/aborted.ts'
import { echo, heldExchange, textResponse, testServer } from '../testing/exchanges.ts'
import { cancel, createRequest } from '../testing/requests.ts'
import { serveRaw } from '../testing/serve-raw.ts'
import { serveStdio } from './serve-stdio.ts'

const { parse, invalidRequest, internal } = errorCodes
const text = (message: object): string => `${JSON.stringify(message)}\n`

describe('a service on streams', () => {
  test('answers each request under its id, in the order in which they are done [TRI-002 BAS-028]', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1), createRequest('1'), createRequest('ä'))
    const [first, second, third] = [await held.call(0), await held.call(1), await held.call(2)]
    third.answer('third')
    expect(await served.peer.next()).toMatchObject({ id: 'ä', result: { text: 'third' } })
    first.answer('first')
    second.answer('second')
    expect(await served.peer.next()).toMatchObject({ id: 1, result: { text: 'first' } })
    expect(await served.peer.next()).toMatchObject({ id: '1', result: { text: 'second' } })
  })

  test('sends the notifications of a call before its response, and none afterwards', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1), createRequest(2))
    const [first, second] = [await held.call(0), await held.call(1)]
    const note = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1 },
    } as const
    first.call.notify(note)
    first.answer()
    expect(await served.peer.next()).toEqual(note)
    expect(await served.peer.next()).toMatchObject({ id: 1 })
    first.call.notify(note)
    second.answer()
    expect(await served.peer.next()).toMatchObject({ id: 2 })
  })

  test('sends a response apart from the progress just before it, and holds no other message back', async () => {
    const held = heldExchange()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const chunks: string[] = []
    output.on('data', (chunk: Buffer) => chunks.push(String(chunk)))
    await using _service = serveStdio(testServer(held.exchange), { input, output })
    input.write(text(createRequest(1)) + text(createRequest(2)))
    const [first, second] = [await held.call(0), await held.call(1)]
    const nextChunk = async () => {
      while (chunks.length === 0) await new Promise((resolve) => setImmediate(resolve))
      return chunks.shift()
    }
    // The pause before the response is a timer, which a busy machine could fire in the tick of the progress.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    using _ = { [Symbol.dispose]: () => void vi.useRealTimers() }
    first.call.notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
    first.answer()
    second.answer()
    expect(await nextChunk()).toMatch(/"progress":1[^]*"id":2/)
    vi.runAllTimers()
    expect(await nextChunk()).toMatch(/^[^\n]*"id":1[^\n]*\n$/)
  })

  test('names the request in a message that would name none, such as a log', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(7))
    const { call } = await held.call(0)
    call.notify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })
    expect(await served.peer.next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 'x', _meta: { 'x.transport-stdio/requestId': 7 } },
    })
    await served.service.close()
  })

  test('passes on the principal of the peer', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange, { principal: { subject: 'ada' } })
    served.peer.say(createRequest(1))
    expect((await held.call(0)).call.principal).toEqual({ subject: 'ada' })
    held.calls[0]?.answer()
  })
})

describe('a line that is no request', () => {
  test.each([
    ['no JSON', '{"jsonrpc"\n', undefined, parse],
    ['bytes that are no text', Buffer.from([0x7b, 0xff, 0x7d, 0x0a]), undefined, parse],
    ['a number', '7\n', undefined, invalidRequest],
    ['a batch', text([createRequest(1), createRequest(2)]), undefined, invalidRequest],
    ['an empty batch', '[]\n', undefined, invalidRequest],
    ['another version', '{"jsonrpc":"1.0","id":5,"method":"x"}\n', 5, invalidRequest],
    ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"x"}\n', undefined, invalidRequest],
    ['too much depth', `{"jsonrpc":"2.0","id":5,"method":"x","params":${'['.repeat(300)}\n`, undefined, parse],
    ['a line that is too long', text(createRequest(5, 'x', { filler: 'x'.repeat(5000) })), 5, parse],
    ['garbage that is too long', `${'x'.repeat(5000)}\n`, undefined, parse],
  ])(
    'is answered when it is %s, and the stream continues [BAS-012 BAS-013 BAS-014 STD-003]',
    async (_, line, id, code) => {
      await using served = serveRaw(echo, {}, { maxLineBytes: 4000 })
      served.peer.say(line, createRequest('next'))
      const refusal = await served.peer.next()
      expect(refusal).toEqual({
        jsonrpc: '2.0',
        ...(id !== undefined && { id }),
        error: expect.objectContaining({ code }),
      })
      expect(await served.peer.next()).toMatchObject({ id: 'next', result: { text: 'tools/list' } })
    },
  )

  test.each([
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/dance' }],
    ['a notification of earlier revisions', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['the cancellation of nothing', cancel(99)],
    ['the cancellation of something malformed', cancel({ id: 1 })],
    ['a cancellation without params', { jsonrpc: '2.0', method: 'notifications/cancelled' }],
  ])('is not answered when it is %s [BAS-025 CAN-017]', async (_, message) => {
    await using served = serveRaw(echo)
    served.peer.say(message, '\n', '\r\n', createRequest('next'))
    expect(await served.peer.next()).toMatchObject({ id: 'next' })
  })

  test('of any content never ends the service', async () => {
    await using served = serveRaw(echo, {}, { maxLineBytes: 200 })
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map((json) => `${json}\n`),
      fc.object().map((object) => text({ jsonrpc: '2.0', ...object })),
    )
    await fc.assert(
      fc.asyncProperty(anything, fc.uuid(), async (garbage, id) => {
        served.peer.say(garbage, '\n', { jsonrpc: '2.0', id, method: 'x' })
        for (let answer = await served.peer.next(); answer['id'] !== id; answer = await served.peer.next()) {
          expect(answer).toHaveProperty('error')
        }
      }),
    )
  })
})

describe('the lines of a service', () => {
  test('are one message each, and none is a request, for any output of handlers [STD-001 STD-003 STD-008 PAT-001 TRI-001]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), async (texts) => {
        const says: Exchange = (asked, call) => {
          for (const data of texts) {
            call.notify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } })
          }
          return Promise.resolve(textResponse(asked, texts.join('\n\r\u2028')))
        }
        await using served = serveRaw(says)
        served.peer.say(createRequest(1))
        served.peer.end()
        await served.service.closed
        const lines = await served.peer.ended
        expect(lines).toHaveLength(texts.length + 1)
        for (const line of lines) expect('method' in parseMessage(line) && 'id' in parseMessage(line)).toBe(false)
      }),
      { numRuns: 30 },
    )
  })
})

describe('a call that fails', () => {
  test.each<[string, Exchange]>([
    ['rejects', () => Promise.reject(new Error('password=hunter2'))],
    [
      'throws',
      () => {
        throw new Error('password=hunter2')
      },
    ],
    ['answers with a cycle', ({ id }) => Promise.resolve({ jsonrpc: '2.0', id, result: cycle('password=hunter2') })],
  ])('because its exchange %s is answered without the cause, which is reported', async (_, exchange) => {
    const errors: unknown[] = []
    await using served = serveRaw(exchange, {}, { log: ({ err }) => errors.push(err) })
    served.peer.say(createRequest(1))
    expect(await served.peer.next()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: internal, message: 'Internal error' },
    })
    expect(errors).toEqual([expect.any(Error)])
  })

  test('with an error for the peer is answered with it', async () => {
    await using served = serveRaw(() => Promise.reject(new McpError(4001, 'The item is locked')))
    served.peer.say(createRequest(1))
    expect(await served.peer.next()).toMatchObject({ id: 1, error: { code: 4001, message: 'The item is locked' } })
  })
})

describe('a call too many', () => {
  test('is rejected when its id is in use, and the first call continues', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1), createRequest(1))
    expect(await served.peer.next()).toMatchObject({ id: 1, error: { code: invalidRequest } })
    held.calls[0]?.answer('first')
    expect(await served.peer.next()).toMatchObject({ id: 1, result: { text: 'first' } })
    served.peer.say(createRequest(1))
    ;(await held.call(1)).answer('again')
    expect(await served.peer.next()).toMatchObject({ id: 1, result: { text: 'again' } })
  })

  test('is rejected past 1,024 running calls, while cancellations are still read [LDG-003]', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(...Array.from({ length: 1025 }, (_, index) => createRequest(index + 1)))
    expect(await served.peer.next()).toMatchObject({
      id: 1025,
      error: { code: internal, data: { reason: 'quota', limit: 'calls', max: 1024 } },
    })
    served.peer.say(cancel(1))
    await waitForAbort((await held.call(0)).call.signal)
    // It was cancelled and still runs, so it counts until its end.
    served.peer.say(createRequest(1026))
    expect(await served.peer.next()).toMatchObject({ id: 1026, error: { code: internal } })
    held.calls[0]?.answer()
    served.peer.say(createRequest(1027))
    ;(await held.call(1024)).answer('last')
    expect(await served.peer.next()).toMatchObject({ id: 1027, result: { text: 'last' } })
    for (const { answer } of held.calls) answer()
  })
})

describe('the options of a service', () => {
  test.each([
    ['one stream of two', { input: new PassThrough() }, TypeError],
    ['an unknown option', { input: new PassThrough(), output: new PassThrough(), maxCalls: 1 } as object, TypeError],
    ['a negative bound', { input: new PassThrough(), output: new PassThrough(), graceMs: -1 }, RangeError],
    [
      'a bound that is no number',
      { input: new PassThrough(), output: new PassThrough(), graceMs: Number.NaN },
      RangeError,
    ],
    ['an endless time', { input: new PassThrough(), output: new PassThrough(), graceMs: Infinity }, RangeError],
    [
      'a principal without a subject',
      { input: new PassThrough(), output: new PassThrough(), principal: { user: 'ada' } } as object,
      TypeError,
    ],
  ])('are rejected with %s', (_, options, kind) => {
    expect(() => serveStdio(testServer(echo), options)).toThrow(kind)
  })
})

function cycle(secret: string): Record<string, never> {
  const value = { secret }
  return Object.assign(value, { self: value }) as unknown as Record<string, never>
}
