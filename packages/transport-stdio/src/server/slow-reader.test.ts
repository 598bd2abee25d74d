import { once } from 'node:events'
import { type Duplex, PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { echo, heldExchange, testServer } from '../testing/exchanges.ts'
import { rawPeer } from '../testing/raw-peer.ts'
import { createRequest } from '../testing/requests.ts'
import { startStdioService } from './serve-stdio.ts'

const message = (data: string) =>
  ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } }) as const
const kilobyte = 'x'.repeat(1000)

/** Starts a service whose output has no reader yet. */
function serveUnread(exchange: typeof echo, maxQueuedBytes?: number) {
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1000 })]
  const service = startStdioService(testServer(exchange), { input, output, graceMs: 100 }, { maxQueuedBytes })
  return { service, input, output, read: () => rawPeer({ input: output, output: input }) }
}

function say(input: PassThrough | Duplex, ...messages: readonly object[]): void {
  for (const one of messages) input.write(`${JSON.stringify(one)}\n`)
}

describe('a reader that is slow', () => {
  test('stops the reading of requests, and loses none of their answers', async () => {
    let calls = 0
    const counting: typeof echo = (asked, call) => {
      calls += 1
      return echo(asked, call)
    }
    const served = serveUnread(counting)
    const all = Array.from({ length: 5000 }, (_, id) => createRequest(id, 'x', { kilobyte }))
    const writing = (async () => {
      for (const [index, one] of all.entries()) {
        if (!served.input.write(`${JSON.stringify(one)}\n`)) await once(served.input, 'drain')
        // As from a socket, what comes at once is bounded.
        if (index % 50 === 49) await setImmediate()
      }
    })()
    // The full output pauses the input, which fills up until the output is read.
    await once(served.input, 'pause')
    expect(calls).toBeLessThan(200)
    const peer = served.read()
    const ids = []
    for (const _ of all) ids.push((await peer.next())['id'])
    await writing
    expect(ids).toEqual(all.map(({ id }) => id))
    await served.service.close()
  })

  test('loses notifications past the bound, and never the response', async () => {
    const held = heldExchange()
    const served = serveUnread(held.exchange, 10_000)
    say(served.input, createRequest(1))
    const { call, answer } = await held.call(0)
    for (let count = 0; count < 1000; count++) call.notify(message(kilobyte))
    answer()
    const peer = served.read()
    let heard = 0
    while (!('id' in (await peer.next()))) heard += 1
    expect(heard).toBeGreaterThan(5)
    expect(heard).toBeLessThan(11)
    await served.service.close()
  })

  test('of a subscription is notified of its end, and the handler gets the reason [CAN-002]', async () => {
    const held = heldExchange()
    const served = serveUnread(held.exchange, 10_000)
    say(served.input, createRequest(1, 'subscriptions/listen', { notifications: {} }))
    const { call, answer } = await held.call(0)
    for (let count = 0; count < 20; count++) call.notify(message(kilobyte))
    expect(call.signal.reason).toMatchObject({ message: expect.stringContaining('too slow') })
    answer()
    const peer = served.read()
    let last = await peer.next()
    while (last['method'] === 'notifications/message') last = await peer.next()
    expect(last).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await served.service.close()
    expect(peer.listUnread()).toEqual([])
  })

  test('does not hold up the end', async () => {
    const served = serveUnread(echo)
    say(served.input, createRequest(1, kilobyte), createRequest(2, kilobyte), createRequest(3, kilobyte))
    await once(served.input, 'pause')
    await served.service.close()
    expect(served.output.destroyed).toBe(true)
  })
})
