import { backPressureKey } from '@x/exchange'
import { errorCodes, type RpcNotification } from '@x/schema'
import { describe, expect, test, vi } from 'vitest'
import { waitForAbort, pendingCalls, createProgressNotification, resultOf } from '../testing/exchanges.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { createPostRequest } from '../testing/sent.ts'
import { serveFunctions } from '../testing/shells.ts'
import type { StreamedResponse } from '../testing/shells.ts'

const callTool = createPostRequest('tools/call', { name: 'a' })
const listen = createPostRequest('subscriptions/listen', { notifications: { toolsListChanged: true } })
const changed: RpcNotification = {
  jsonrpc: '2.0',
  method: 'notifications/tools/list_changed',
  params: { a: 'é\n\r\u2028' },
}

describe.each(serveFunctions)('%s', (shell, serve) => {
  test('notifications make the answer a stream of events, byte for byte, that the response ends [SHT-015 SHT-019 SHT-021]', async () => {
    await using handler = await serve(async (request, call) => {
      call.notify(createProgressNotification(1))
      call.notify(changed)
      return resultOf(request)
    })
    const { status, headers, body } = await handler.send(callTool)
    expect([status, headers.get('content-type'), headers.get('x-accel-buffering')]).toEqual([
      200,
      'text/event-stream',
      'no',
    ])
    expect(headers.get('cache-control')).toBe('no-cache, no-store, no-transform')
    expect(body).toBe(
      `data: ${JSON.stringify(createProgressNotification(1))}\n\n` +
        `data: ${JSON.stringify(changed)}\n\n` +
        'data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}\n\n',
    )
  })

  test('an event is on its way before the call has ended', async () => {
    const { exchange, next } = pendingCalls()
    await using handler = await serve(exchange)
    const opening = handler.open(callTool)
    const { call, answer } = await next()
    call.notify(createProgressNotification(1))
    const stream = await opening
    expect(await stream.next()).toBe(`data: ${JSON.stringify(createProgressNotification(1))}\n\n`)
    answer()
    expect(await stream.next()).toContain('"result"')
    expect(await stream.next()).toBe('')
  })

  test('an error after a notification travels on the stream', async () => {
    await using handler = await serve(async ({ id }, call) => {
      call.notify(createProgressNotification(1))
      return { jsonrpc: '2.0', id, error: { code: errorCodes.invalidParams, message: 'no' } }
    })
    const { status, body } = await handler.send(callTool)
    expect(status).toBe(200)
    expect(body.endsWith('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}\n\n')).toBe(true)
  })

  test('a notification after the response goes nowhere, whichever form the answer had [PRG-009]', async () => {
    const { exchange, next } = pendingCalls()
    await using handler = await serve(exchange)
    const sending = handler.send(callTool)
    const pending = await next()
    pending.answer()
    const { body } = await sending
    pending.call.notify(createProgressNotification(1))
    expect(JSON.parse(body).result).toEqual({ resultType: 'complete' })
    expect(pending.call.signal.aborted).toBe(false)
  })

  test.each([
    ['before anything was sent', false],
    ['while it streams', true],
  ])(
    'a client that leaves %s cancels the call, and nothing is sent any more [SHT-024 SHT-025 SHT-026 CAN-004 CAN-012]',
    async (_title, streaming) => {
      const { exchange, next } = pendingCalls()
      const log = vi.fn()
      const leaving = new AbortController()
      await using handler = await serve(exchange, {}, { log })
      const opening = handler.open(callTool, leaving.signal).catch(() => undefined)
      const { call, answer } = await next()
      if (streaming) {
        call.notify(createProgressNotification(1))
        expect(await (await opening)?.next()).toContain('"progress":1')
      }
      leaving.abort()
      const reason = await waitForAbort(call.signal)
      expect(reason).toMatchObject({ name: 'AbortError', message: 'The client closed the connection' })
      call.notify(createProgressNotification(2))
      answer()
      // A later call proves that the handler is through with the first.
      const later = handler.send(callTool)
      const after = await next()
      after.answer()
      expect((await later).status).toBe(200)
      const stream = await opening
      if (streaming) await expect(stream?.next().catch(() => '')).resolves.toBe('')
      expect(log).not.toHaveBeenCalled()
    },
  )

  test('a handler that looks at the signal only after the client has left finds it aborted [CAN-014]', async () => {
    const { exchange, next } = pendingCalls()
    const leaving = new AbortController()
    const clock = createManualClock()
    await using handler = await serve(exchange, {}, clock)
    void handler.open(callTool, leaving.signal).catch(() => undefined)
    const { call } = await next()
    leaving.abort()
    // The timer is called off when the handler has seen the client leave.
    await expect.poll(() => clock.countTimers()).toBe(0)
    expect(call.signal.aborted).toBe(true)
    expect(call.signal.reason).toMatchObject({ name: 'AbortError' })
  })

  test('an exchange that gives up because the client left is not a failure', async () => {
    const { exchange, next } = pendingCalls()
    const leaving = new AbortController()
    const log = vi.fn()
    await using handler = await serve(exchange, {}, { log })
    void handler.open(callTool, leaving.signal).catch(() => undefined)
    const { call, fail } = await next()
    leaving.abort()
    fail(await waitForAbort(call.signal))
    const later = handler.send(callTool)
    ;(await next()).answer()
    await later
    expect(log).not.toHaveBeenCalled()
  })

  test('a quiet call becomes a stream after keepAliveMs, and comments hold it open [SHT-022]', async () => {
    const { exchange, next } = pendingCalls()
    const clock = createManualClock()
    await using handler = await serve(exchange, { keepAliveMs: 100 }, clock)
    const opening = handler.open(callTool)
    const { answer } = await next()
    clock.advance(100)
    const stream = await opening
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(await stream.next()).toBe(':\n\n')
    clock.advance(100)
    expect(await stream.next()).toBe(':\n\n')
    answer()
    expect(await stream.next()).toBe('data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}\n\n')
    expect(await stream.next()).toBe('')
    await expect.poll(() => clock.countTimers()).toBe(0)
  })

  // Bun closes a connection that is quiet for 10 seconds.
  const defaultKeepAliveMs = shell === 'httpHandler' ? 5_000 : 15_000

  test('a call that is answered in time opens no stream and leaves no timer', async () => {
    const { exchange, next } = pendingCalls()
    const clock = createManualClock()
    await using handler = await serve(exchange, {}, clock)
    const sending = handler.send(callTool)
    const { answer } = await next()
    clock.advance(defaultKeepAliveMs - 1)
    answer()
    expect((await sending).headers.get('content-type')).toBe('application/json')
    await expect.poll(() => clock.countTimers()).toBe(0)
  })

  test('keepAliveMs and timeoutMs of 0 mean never', async () => {
    const { exchange, next } = pendingCalls()
    const clock = createManualClock()
    await using handler = await serve(exchange, { keepAliveMs: 0, timeoutMs: 0 }, clock)
    const sending = handler.send(callTool)
    const { answer } = await next()
    expect(clock.countTimers()).toBe(0)
    answer()
    await sending
  })

  test('a call past its time is answered with 504 and its signal aborts [CAN-006 CAN-009]', async () => {
    const { exchange, next } = pendingCalls()
    const clock = createManualClock()
    const log = vi.fn()
    const options = { keepAliveMs: 0, timeoutMs: 1_000 }
    await using handler = await serve(exchange, options, { ...clock, log })
    const sending = handler.send(callTool)
    const { call, fail } = await next()
    clock.advance(999)
    expect(call.signal.aborted).toBe(false)
    clock.advance(1)
    expect(call.signal.reason).toMatchObject({ name: 'TimeoutError' })
    fail(call.signal.reason)
    const { status, body } = await sending
    expect([status, JSON.parse(body)]).toEqual([
      504,
      { jsonrpc: '2.0', id: 1, error: { code: errorCodes.internal, message: 'The call took longer than 1000 ms' } },
    ])
    expect(log).not.toHaveBeenCalled()
  })

  test('a call past its time that streams gets the error on its stream, comments and progress notwithstanding [CAN-009]', async () => {
    const { exchange, next } = pendingCalls()
    const clock = createManualClock()
    await using handler = await serve(exchange, { keepAliveMs: 400, timeoutMs: 1_000 }, clock)
    const opening = handler.open(callTool)
    const { call } = await next()
    clock.advance(400)
    const stream = await opening
    expect(await stream.next()).toBe(':\n\n')
    call.notify(createProgressNotification(1))
    expect(await stream.next()).toContain('"progress":1')
    clock.advance(400)
    expect(await stream.next()).toBe(':\n\n')
    clock.advance(200)
    expect(await stream.next()).toContain('"code":-32603')
    expect(await stream.next()).toBe('')
    expect(call.signal.aborted).toBe(true)
  })

  test('a stream of changes has no time limit [SHT-022]', async () => {
    const { exchange, next } = pendingCalls()
    const clock = createManualClock()
    await using handler = await serve(exchange, { keepAliveMs: 500, timeoutMs: 1_000 }, clock)
    const opening = handler.open(listen)
    const { call, answer } = await next()
    call.notify(changed)
    const stream = await opening
    expect(await stream.next()).toContain('list_changed')
    for (let round = 0; round < 5; round += 1) {
      clock.advance(500)
      expect(await stream.next()).toBe(':\n\n')
    }
    expect(call.signal.aborted).toBe(false)
    answer()
    expect(await stream.next()).toContain('"result"')
  })

  test('a slow reader loses progress beyond the bound, and never the response', async () => {
    const message = 'x'.repeat(10_000)
    await using handler = await serve(
      async (request, call) => {
        for (let value = 0; value < 1_000; value += 1) call.notify(createProgressNotification(value, message))
        return resultOf(request)
      },
      {},
      { maxQueuedBytes: 100_000 },
    )
    const { body } = await handler.send(callTool)
    const events = body.split('\n\n').filter((event) => event !== '')
    expect(events.length).toBeGreaterThan(5)
    expect(events.length).toBeLessThan(15)
    expect(events.at(-1)).toBe('data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}')
  })

  test('a slow reader of a stream of changes is cut off, because it could not detect the loss', async () => {
    const { exchange, next } = pendingCalls()
    await using handler = await serve(exchange, {}, { maxQueuedBytes: 10_000 })
    const opening = handler.open(listen).catch(() => undefined)
    const { call } = await next()
    const large: RpcNotification = { ...changed, params: { text: 'x'.repeat(6_000) } }
    call.notify(large)
    call.notify(large)
    expect(call.signal.reason).toMatchObject({ message: 'The reader of the stream was too slow' })
    // Cut off may be so early that not even the head of the answer got through.
    await expect(readToEnd(await opening)).rejects.toThrow(/broken off|aborted|terminated|reset|nothing/)
  })

  test.each([
    ['reads on', async (stream: StreamedResponse, _leaving: AbortController) => void (await stream.next())],
    ['leaves', async (_stream: StreamedResponse, leaving: AbortController) => leaving.abort()],
  ])('a call is notified that its reader is behind, and again when the reader %s', async (_title, go) => {
    const { exchange, next } = pendingCalls()
    await using handler = await serve(exchange, {}, { maxQueuedBytes: 100_000_000 })
    const leaving = new AbortController()
    const opening = handler.open(listen, leaving.signal)
    const { call } = await next()
    const drained = call.context.get(backPressureKey)
    expect(drained).toBeDefined()
    expect(drained?.()).toBeUndefined()
    call.notify(changed)
    const stream = await opening
    const large: RpcNotification = { ...changed, params: { a: 'x'.repeat(500_000) } }
    while (drained?.() === undefined) {
      call.notify(large)
      // The system takes some of it at the end of the turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const caughtUp = drained?.()?.then(() => 'caught up')
    await go(stream, leaving)
    const reading = leaving.signal.aborted ? undefined : readToEnd(stream).catch(() => {})
    expect(await caughtUp).toBe('caught up')
    leaving.abort()
    await reading
  })
})

async function readToEnd(stream: StreamedResponse | undefined): Promise<void> {
  if (stream === undefined) throw new Error('nothing came')
  let piece = await stream.next()
  while (piece !== '') piece = await stream.next()
}
