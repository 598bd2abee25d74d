import { PassThrough } from 'node:stream'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { waitForAbort } from '../testing/aborted.ts'
import { echo, heldExchange, testServer } from '../testing/exchanges.ts'
import { rawPeer } from '../testing/raw-peer.ts'
import { createRequest } from '../testing/requests.ts'
import { serveRaw } from '../testing/serve-raw.ts'
import { serveStdio } from './serve-stdio.ts'

const stopping = {
  code: -32603,
  message: 'The server is stopping and ended this call',
  data: { reason: 'stopping', retryAfterMs: 0, begun: true },
}

describe('a service ends', () => {
  test('with its input: running calls are cancelled, and their responses are still sent [STD-013]', async () => {
    const held = heldExchange()
    const served = serveRaw(held.exchange)
    served.peer.say(createRequest(1), createRequest(2))
    const [first, second] = [await held.call(0), await held.call(1)]
    served.peer.end()
    await waitForAbort(first.call.signal)
    first.answer('in time')
    second.fail(second.call.signal.reason)
    await served.service.closed
    const lines = (await served.peer.ended).map((line): unknown => JSON.parse(line))
    expect(lines).toMatchObject([
      { id: 1, result: { text: 'in time' } },
      { id: 2, error: stopping },
    ])
  })

  test('with the last line of its input, which needs no newline [STD-013]', async () => {
    const served = serveRaw(echo)
    served.peer.say(JSON.stringify(createRequest(1)))
    served.peer.end()
    await served.service.closed
    expect(await served.peer.ended).toHaveLength(1)
  })

  test('when it is closed, which answers for calls that do not stop in time', async () => {
    const clock = manualClock()
    const held = heldExchange()
    const served = serveRaw(held.exchange, { runtime: clock, graceMs: 5000 })
    served.peer.say(createRequest(1))
    const { call, answer } = await held.call(0)
    const closed = served.service.close()
    await waitForAbort(call.signal)
    clock.advance(4999)
    expect(served.peer.listUnread()).toEqual([])
    clock.advance(1)
    expect(await served.peer.next()).toEqual({ jsonrpc: '2.0', id: 1, error: stopping })
    answer('too late')
    served.peer.end()
    await closed
    expect(await served.peer.ended).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  test.each([
    ['while it runs', false],
    ['before it begins', true],
  ])('with its signal, aborted %s', async (_, before) => {
    const controller = new AbortController()
    if (before) controller.abort()
    const served = serveRaw(echo, { signal: controller.signal })
    controller.abort()
    served.peer.end()
    await served.service.closed
    expect(await served.peer.ended).toEqual([])
  })

  test('when nothing reads its output', async () => {
    const held = heldExchange()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const service = serveStdio(testServer(held.exchange), { input, output, graceMs: 10 })
    input.write(`${JSON.stringify(createRequest(1))}\n`)
    const { call } = await held.call(0)
    output.destroy(new Error('EPIPE'))
    await waitForAbort(call.signal)
    await service.closed
    expect(input.destroyed).toBe(true)
  })

  test.each(['input', 'output'] as const)('when its %s fails, late as well', async (which) => {
    const streams = { input: new PassThrough(), output: new PassThrough() }
    const service = serveStdio(testServer(echo), { ...streams, graceMs: 10 })
    streams[which].emit('error', new Error('ECONNRESET'))
    await service.closed
    expect(() => streams[which].emit('error', new Error('again'))).not.toThrow()
  })

  test('once, however often it is asked to', async () => {
    const served = serveRaw(echo)
    const [first, second] = [served.service.close(), served.service.close()]
    served.peer.end()
    await Promise.all([first, second, served.service.closed])
  })

  test('and takes nothing that comes afterwards', async () => {
    const held = heldExchange()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const service = serveStdio(testServer(held.exchange), { input, output, graceMs: 10 })
    const closed = service.close()
    rawPeer({ input: output, output: input }).say(createRequest(1))
    await closed
    expect(held.calls).toEqual([])
  })
})
