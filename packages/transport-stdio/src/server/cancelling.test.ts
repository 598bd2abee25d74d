import { describe, expect, test } from 'vitest'
import { waitForAbort } from '../testing/aborted.ts'
import { heldExchange } from '../testing/exchanges.ts'
import { cancel, createRequest } from '../testing/requests.ts'
import { serveRaw } from '../testing/serve-raw.ts'

const progress = {
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken: 1, progress: 1 },
} as const
const acknowledged = {
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 }, notifications: {} },
} as const

describe('a cancelled call', () => {
  test.each([
    ['answers all the same', 'answer'],
    ['fails', 'fail'],
  ] as const)(
    'aborts with the reason, and nothing is sent for it when it %s [STD-010 STD-011 CAN-012 CAN-014]',
    async (_, how) => {
      const errors: unknown[] = []
      const held = heldExchange()
      await using served = serveRaw(held.exchange, {}, { log: ({ err }) => errors.push(err) })
      served.peer.say(createRequest(1), createRequest(2), cancel(1, 'the user pressed stop'))
      const first = await held.call(0)
      await waitForAbort(first.call.signal)
      expect(first.call.signal.reason).toMatchObject({ name: 'AbortError', message: 'the user pressed stop' })
      first.call.notify(progress)
      if (how === 'answer') first.answer()
      else first.fail(first.call.signal.reason)
      held.calls[1]?.answer('second')
      expect(await served.peer.next()).toMatchObject({ id: 2 })
      served.peer.end()
      expect(await served.peer.ended).toEqual([])
    },
  )

  test('leaves another one with an id that only looks the same', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest('1'), cancel(1), createRequest(2))
    ;(await held.call(1)).answer()
    expect(await served.peer.next()).toMatchObject({ id: 2 })
    expect(held.calls[0]?.call.signal.aborted).toBe(false)
    held.calls[0]?.answer()
    expect(await served.peer.next()).toMatchObject({ id: '1', result: {} })
  })

  test('frees its id at once, and its late answer is not taken for that of the next call', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1), cancel(1), createRequest(1))
    const second = await held.call(1)
    held.calls[0]?.answer('late')
    second.answer('mine')
    expect(await served.peer.next()).toMatchObject({ id: 1, result: { text: 'mine' } })
  })

  test('that was answered before changes nothing [CAN-014 CAN-017]', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1))
    ;(await held.call(0)).answer()
    expect(await served.peer.next()).toMatchObject({ id: 1 })
    served.peer.say(cancel(1), createRequest(2))
    ;(await held.call(1)).answer()
    expect(await served.peer.next()).toMatchObject({ id: 2 })
    expect(held.calls[0]?.call.signal.aborted).toBe(false)
  })
})

describe('a subscription', () => {
  const cancelledBy = (requestId: number) => ({ method: 'notifications/cancelled', params: { requestId } })

  test('that the server ends has a result, and is then cancelled by its id [CAN-002 CAN-011]', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1, 'subscriptions/listen', { notifications: {} }))
    const { call, answer } = await held.call(0)
    call.notify(acknowledged)
    answer('over')
    expect(await served.peer.next()).toEqual(acknowledged)
    expect(await served.peer.next()).toMatchObject({ id: 1, result: { text: 'over' } })
    expect(await served.peer.next()).toMatchObject(cancelledBy(1))
  })

  test('ends in good order when the service stops [CAN-002]', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1, 'subscriptions/listen', { notifications: {} }))
    const { call, answer } = await held.call(0)
    call.notify(acknowledged)
    const closed = served.service.close()
    await waitForAbort(call.signal)
    answer('over')
    await closed
    served.peer.end()
    const lines = (await served.peer.ended).map((line): unknown => JSON.parse(line))
    expect(lines).toMatchObject([acknowledged, { id: 1, result: { text: 'over' } }, cancelledBy(1)])
  })

  test('that never began, and every other call, ends with its answer alone [CAN-003]', async () => {
    const held = heldExchange()
    await using served = serveRaw(held.exchange)
    served.peer.say(createRequest(1, 'subscriptions/listen', { notifications: {} }), createRequest(2))
    held.calls[0]?.answer()
    const second = await held.call(1)
    second.call.notify(progress)
    held.calls[0]?.answer()
    second.answer()
    await served.service.close()
    served.peer.end()
    expect((await served.peer.ended).filter((line) => line.includes('cancelled'))).toEqual([])
  })
})
