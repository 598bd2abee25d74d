import type { JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { allCapabilities, answerOf, createToolCall, readServerRequest, textIn } from '../../../testing/asking.ts'
import { createLinkedServers } from '../../../testing/linked-fleet.ts'
import { createRpcRequest, type EventReader } from '../../../testing/scripted-client.ts'

const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } }

async function startCall(name: string) {
  const fleet = createLinkedServers()
  const emptyStore = fleet.store.snapshot()
  fleet.getInstance(0)
  await fleet.client.initialize({ capabilities: allCapabilities })
  const events = await fleet.client.openStream(createToolCall(name))
  return { fleet, events, emptyStore, question: await readServerRequest(events) }
}

async function textOf(events: EventReader): Promise<unknown> {
  for (;;) {
    const message = await events.readMessage()
    if (message === undefined || message['method'] === undefined) return textIn(message)
  }
}

describe('a store that is unreachable for a while', () => {
  test('does not keep an answer from the call that waits at the same instance [LEX-008]', async () => {
    const { fleet, events, question } = await startCall('greet')
    fleet.store.isReachable = false
    expect((await fleet.client.post(answerOf(question.id, ada))).status).toBe(202)
    fleet.store.isReachable = true
    expect(await textOf(events)).toContain('Ada')
  })

  test('holds an answer to a call that waits elsewhere until it is back', async () => {
    const { fleet, events, question } = await startCall('greet')
    fleet.getInstance(1)
    await fleet.client.post(createRpcRequest('ping'))
    fleet.store.isReachable = false
    const answered = fleet.client.post(answerOf(question.id, ada))
    const tried = fleet.store.operationCount
    await expect.poll(() => fleet.store.operationCount).toBeGreaterThan(tried + 1)
    fleet.store.isReachable = true
    expect((await answered).status).toBe(202)
    expect(await textOf(events)).toContain('Ada')
  })

  test('is answered as unavailable, before a handler has begun [UNA-001 UNA-002]', async () => {
    const { fleet } = await startCall('greet')
    fleet.store.isReachable = false
    fleet.getInstance(2)
    const refused = await fleet.client.post(createRpcRequest('tools/list'))
    expect([refused.status, refused.headers.get('retry-after'), refused.json]).toMatchObject([
      503,
      '1',
      { error: { code: -32603, data: { reason: 'unavailable', begun: false, retryAfterMs: 1000 } } },
    ])
    fleet.getInstance(0)
    expect(await fleet.client.request('logging/setLevel', { level: 'error' })).toMatchObject({
      error: { data: { reason: 'unavailable', begun: false } },
    })
  })

  test('delays a call that another instance continues, and does not end it [LEG-093]', async () => {
    const { fleet, events, question } = await startCall('greet')
    fleet.getInstance(0).freeze()
    await events.leave()
    fleet.getInstance(1)
    let failedReads = 0
    fleet.store.afterRead = async (key) => {
      if (!key.startsWith('legacy:answer:') || failedReads === 2) return
      failedReads += 1
      throw new Error('The store is unreachable')
    }
    const resumed = await fleet.client.get({ 'last-event-id': `${question.id.slice(0, 22)}.0` })
    expect((await fleet.client.post(answerOf(question.id, ada))).status).toBe(202)
    expect(await textOf(resumed)).toContain('Ada')
    expect(failedReads).toBe(2)
  })
})

describe('a store that returns with an older state', () => {
  test.each([
    ['no record of the call', 0],
    ['an earlier round of the call', 1],
  ])('and has %s receives an answer at another instance [ROB-011]', async (_title, answeredRounds) => {
    const fleet = createLinkedServers()
    fleet.getInstance(0)
    await fleet.client.initialize({ capabilities: allCapabilities })
    let restore = fleet.store.snapshot()
    const events = await fleet.client.openStream(createToolCall('pair'))
    let { id } = await readServerRequest(events)
    for (let round = 0; round < answeredRounds; round += 1) {
      restore = fleet.store.snapshot()
      expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
      id = (await readServerRequest(events)).id
    }
    restore()
    fleet.getInstance(1)
    expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
    if (answeredRounds === 0)
      expect((await fleet.client.post(answerOf((await readServerRequest(events)).id, ada))).status).toBe(202)
    expect(await textOf(events)).toBe('Ada and Ada')
    expect(fleet.steps).toEqual(['Ada', 'Ada'])
  })

  test('while messages are lost does not lose an answer, which is held until an instance waits for it [ROB-011]', async () => {
    const { fleet, events, emptyStore, question } = await startCall('greet')
    fleet.getInstance(0).freeze()
    fleet.getInstance(1)
    await fleet.client.post(createRpcRequest('ping'))
    emptyStore()
    fleet.getInstance(1).reportGap()
    const answered = fleet.client.post(answerOf(question.id, ada))
    const { operationCount } = fleet.store
    // The first search has ended, and the instance that waits has not received it.
    await expect.poll(() => fleet.store.operationCount).toBeGreaterThan(operationCount + 1)
    fleet.getInstance(0).thaw()
    expect((await answered).status).toBe(202)
    expect(await textOf(events)).toContain('Ada')
  })

  test('and has lost an answer on its way lets the instance that received it continue the call [ROB-011]', async () => {
    const { fleet, events, question } = await startCall('greet')
    const restore = fleet.store.snapshot()
    fleet.getInstance(0).freeze()
    fleet.getInstance(1)
    expect((await fleet.client.post(answerOf(question.id, ada))).status).toBe(202)
    restore()
    const resumed = await fleet.client.get({ 'last-event-id': `${question.id.slice(0, 22)}.0` })
    fleet.getInstance(0).thaw()
    expect(await events.readMessage()).toBeUndefined()
    expect(await textOf(resumed)).toContain('Ada')
  })

  test('receives the claim of a running call again, so that the call is not continued twice [ROB-011 LEG-093]', async () => {
    const { fleet, events, question } = await startCall('work')
    const restore = fleet.store.snapshot()
    expect((await fleet.client.post(answerOf(question.id, ada))).status).toBe(202)
    await expect.poll(() => fleet.steps).toEqual(['begun'])
    restore()
    fleet.reportGap()
    await expect.poll(() => fleet.store.count('legacy:run:')).toBe(1)
    fleet.getInstance(0).freeze()
    fleet.getInstance(1)
    expect((await fleet.client.post(answerOf(question.id, ada))).status).toBe(202)
    fleet.gate.open()
    expect(await textOf(events)).toBe('done')
    expect(fleet.steps).toEqual(['begun'])
  })

  test('receives the settings and the end of a session again [ROB-011 LEG-059 LEG-088]', async () => {
    const fleet = createLinkedServers()
    fleet.getInstance(0)
    const [ended, leveled] = [fleet.createClient(), fleet.client]
    for (const client of [ended, leveled]) await client.initialize({ capabilities: allCapabilities })
    const restore = fleet.store.snapshot()
    await leveled.request('logging/setLevel', { level: 'debug' })
    expect((await ended.end()).status).toBe(204)
    restore()
    fleet.reportGap()
    fleet.getInstance(2)
    await expect.poll(async () => (await ended.post(createRpcRequest('ping'))).status).toBe(404)
    const events = await leveled.openStream(createToolCall('talk'))
    expect(JSON.stringify(await events.readMessage())).toContain('"debug"')
  })
})

test('an instance that missed messages does not put a round back that another one has continued', async () => {
  const { fleet, events, question } = await startCall('pair')
  fleet.getInstance(0).freeze()
  await events.leave()
  fleet.getInstance(1)
  expect((await fleet.client.post(answerOf(question.id, ada))).status).toBe(202)
  await expect.poll(() => fleet.steps).toEqual(['Ada'])
  fleet.getInstance(0).thaw()
  fleet.reportGap()
  fleet.getInstance(2)
  const resumed = await fleet.client.get({ 'last-event-id': `${question.id.slice(0, 22)}.0` })
  const second = await readServerRequest(resumed)
  expect((await fleet.client.post(answerOf(second.id, ada))).status).toBe(202)
  expect(await textOf(resumed)).toBe('Ada and Ada')
})

test('an event id that was made up costs neither store nor bus [LEG-090]', async () => {
  const { fleet, question } = await startCall('greet')
  fleet.getInstance(1)
  await fleet.client.post(createRpcRequest('ping'))
  const operationCount = fleet.store.operationCount
  const streamId = question.id.slice(0, 22)
  const madeUp = `${streamId.slice(0, 14)}${streamId.slice(14) === 'AAAAAAAA' ? 'BBBBBBBB' : 'AAAAAAAA'}.1q`
  expect((await fleet.client.get({ 'last-event-id': madeUp })).status).toBe(404)
  expect(fleet.store.operationCount).toBe(operationCount)
})

test('a round that the store has although its write was rejected is continued by one instance [LEG-093]', async () => {
  const fleet = createLinkedServers()
  fleet.store.rejectsStoredRounds = true
  await fleet.client.initialize({ capabilities: allCapabilities })
  const events = await fleet.client.openStream(createToolCall('pair'))
  const { id } = await readServerRequest(events)
  fleet.store.rejectsStoredRounds = false
  fleet.getInstance(0).freeze()
  fleet.getInstance(1)
  expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
  await expect.poll(() => fleet.steps).toEqual(['Ada'])
  fleet.getInstance(0).thaw()
  // The first instance has the answer now, and leaves the call to the second one.
  expect(await events.readMessage()).toBeUndefined()
  expect(fleet.steps).toEqual(['Ada'])
})

test('a round whose write was rejected is not continued while the store cannot confirm its claim [LEG-093]', async () => {
  const fleet = createLinkedServers()
  fleet.store.rejectsStoredRounds = true
  await fleet.client.initialize({ capabilities: allCapabilities })
  const events = await fleet.client.openStream(createToolCall('pair'))
  const { id } = await readServerRequest(events)
  fleet.store.rejectsStoredRounds = false
  fleet.getInstance(0)
  fleet.store.isReachable = false
  expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
  const tried = fleet.store.operationCount
  await expect.poll(() => fleet.store.operationCount).toBeGreaterThan(tried + 1)
  expect(fleet.steps).toEqual([])
  fleet.store.isReachable = true
  // The same answer arrives at a second instance, as when a proxy sends it again.
  fleet.getInstance(1)
  await fleet.client.post(answerOf(id, ada))
  await expect.poll(() => fleet.steps).toEqual(['Ada'])
  const second = await readServerRequest(events)
  expect((await fleet.client.post(answerOf(second.id, ada))).status).toBe(202)
  expect(await textOf(events)).toBe('Ada and Ada')
  expect(fleet.steps).toEqual(['Ada', 'Ada'])
})
