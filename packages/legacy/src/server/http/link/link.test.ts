import { isJsonObject, type JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { answerOf, readServerRequest, createToolCall, allCapabilities, textIn } from '../../../testing/asking.ts'
import { createLinkedServers } from '../../../testing/linked-fleet.ts'
import { type EventReader, createRpcRequest, type ScriptedClient } from '../../../testing/scripted-client.ts'

const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } }

/** The next request of the server, with the id of its event. */
async function question(events: EventReader) {
  for (;;) {
    const event = await events.readEvent()
    if (event === undefined) throw new Error('the stream has ended')
    if (event.message?.['method'] === undefined || event.message['id'] === undefined) continue
    return { eventId: event.id ?? '', id: String(event.message['id']), method: event.message['method'] }
  }
}

/** The next response on a stream. */
async function responseIn(events: EventReader): Promise<JsonObject | undefined> {
  for (;;) {
    const message = await events.readMessage()
    if (message === undefined || message['method'] === undefined) return message
  }
}

const resume = (client: ScriptedClient, eventId: string): Promise<EventReader> =>
  client.get({ 'last-event-id': eventId })

async function startCall(fleet: ReturnType<typeof createLinkedServers>, name: string) {
  fleet.getInstance(0)
  await fleet.client.initialize({ capabilities: allCapabilities })
  const request = createToolCall(name, {}, { progressToken: 1 })
  const events = await fleet.client.openStream(request)
  return { request, events }
}

describe('linked instances', () => {
  test('that wait for the same answer leave the call to the one that has it, and its client is answered [LEG-093]', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'greet')
    const { id, eventId } = await question(events)
    fleet.getInstance(0).freeze()
    fleet.getInstance(1)
    const resumed = await resume(fleet.client, `${id.slice(0, 22)}.0`)
    expect((await question(resumed)).id).toBe(id)
    // The instance that asked has not received that the call moved, and the answer reaches it first.
    fleet.getInstance(0)
    expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
    fleet.getInstance(0).thaw()
    expect(await responseIn(resumed)).toBeUndefined()
    fleet.getInstance(2)
    expect(textIn(await responseIn(await resume(fleet.client, eventId)))).toContain('Ada')
  })

  test('each take the answers for all, and the call continues where it waits [LEG-092]', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'pair')
    fleet.getInstance(1)
    expect((await fleet.client.post(answerOf((await readServerRequest(events)).id, ada))).status).toBe(202)
    fleet.getInstance(2)
    expect((await fleet.client.post(answerOf((await readServerRequest(events)).id, ada))).status).toBe(202)
    expect(textIn(await responseIn(events))).toBe('Ada and Ada')
    expect(fleet.steps).toEqual(['Ada', 'Ada'])
  })

  test('take no answer of another session, to nothing, or to a question that is over [LEG-090]', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'greet')
    const { id } = await readServerRequest(events)
    const thief = fleet.createClient()
    fleet.getInstance(1)
    await thief.initialize({ capabilities: allCapabilities })
    expect((await thief.post(answerOf(id, ada))).status).toBe(400)
    expect((await fleet.client.post(answerOf('nothing', ada))).status).toBe(400)
    expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
    expect(textIn(await responseIn(events))).toContain('Ada')
    await expect.poll(async () => (await fleet.client.post(answerOf(id, ada))).status).toBe(400)
  })

  test('continue a call whose instance was killed while it waited, from either message of the client [LEG-092 LEG-093]', async () => {
    const fleet = createLinkedServers()
    const { request, events } = await startCall(fleet, 'pair')
    const first = await question(events)
    fleet.getInstance(0).kill()
    fleet.getInstance(1)
    expect((await fleet.client.post(answerOf(first.id, ada))).status).toBe(202)
    fleet.getInstance(2)
    const resumed = await resume(fleet.client, first.eventId)
    const second = await question(resumed)
    fleet.getInstance(1).kill()
    fleet.getInstance(2)
    const again = await resume(fleet.client, second.eventId)
    expect((await fleet.client.post(answerOf(second.id, ada))).status).toBe(202)
    const response = await responseIn(again)
    expect([response?.['id'], textIn(response)]).toEqual([request.id, 'Ada and Ada'])
    expect(fleet.steps).toEqual(['Ada', 'Ada'])
  })

  test('repeat questions that the client has not received, and join answers that reached different instances', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'both')
    const [form] = [await question(events), await question(events)]
    expect((await fleet.client.post(answerOf(form.id, ada))).status).toBe(202)
    fleet.getInstance(0).kill()
    fleet.getInstance(1)
    const resumed = await resume(fleet.client, form.eventId)
    const model = await question(resumed)
    expect(model.method).toBe('sampling/createMessage')
    fleet.getInstance(2)
    const sampled = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
    expect((await fleet.client.post(answerOf(model.id, sampled))).status).toBe(202)
    expect(textIn(await responseIn(resumed))).toBe('Ada by m')
  })

  test('run a round once though the frozen instance that asked runs again, which leaves the call to them [LEG-093]', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'pair')
    const first = await question(events)
    fleet.getInstance(0).freeze()
    fleet.getInstance(1)
    expect((await fleet.client.post(answerOf(first.id, ada))).status).toBe(202)
    await expect.poll(() => fleet.steps).toEqual(['Ada'])
    fleet.getInstance(0).thaw()
    expect(await events.readMessage()).toBeUndefined()
    const second = await question(await resume(fleet.client, first.eventId))
    fleet.getInstance(2)
    expect((await fleet.client.post(answerOf(second.id, ada))).status).toBe(202)
    expect(textIn(await responseIn(await resume(fleet.client, second.eventId)))).toBe('Ada and Ada')
    expect(fleet.steps).toEqual(['Ada', 'Ada'])
  })

  test('answer a call that ran when its instance was killed with the reason [LEG-094]', async () => {
    const fleet = createLinkedServers()
    const { request, events } = await startCall(fleet, 'slow')
    const progress = await events.readEvent()
    fleet.getInstance(0).kill()
    fleet.getInstance(1)
    const response = await responseIn(await resume(fleet.client, progress?.id ?? ''))
    expect(response).toMatchObject({ id: request.id, error: { code: -32603, data: { reason: 'lost' } } })
  })

  test('answer a call that was killed after it had taken its answer with the reason, and run nothing again [LEG-094 LEG-093]', async () => {
    const fleet = createLinkedServers()
    const { request, events } = await startCall(fleet, 'work')
    const { eventId, id } = await question(events)
    await fleet.client.post(answerOf(id, ada))
    await expect.poll(() => fleet.steps).toEqual(['begun'])
    fleet.getInstance(0).kill()
    fleet.getInstance(1)
    const response = await responseIn(await resume(fleet.client, eventId))
    expect(response).toMatchObject({ id: request.id, error: { code: -32603, data: { reason: 'lost' } } })
    expect(fleet.steps).toEqual(['begun'])
  })

  test('pass on the stream of a call that runs elsewhere, with what its client has missed', async () => {
    const fleet = createLinkedServers()
    const { request, events } = await startCall(fleet, 'slow')
    const first = await events.readEvent()
    await events.leave()
    fleet.getInstance(1)
    const resumed = await resume(fleet.client, first?.id ?? '')
    fleet.gate.open()
    const response = await responseIn(resumed)
    expect([response?.['id'], textIn(response)]).toEqual([request.id, 'done'])
    expect(await resumed.readMessage()).toBeUndefined()
  })

  test('keep the response for a client whose connection broke with it', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'greet')
    const { id, eventId } = await question(events)
    await fleet.client.post(answerOf(id, ada))
    expect(textIn(await responseIn(events))).toContain('Ada')
    fleet.getInstance(2)
    expect(textIn(await responseIn(await resume(fleet.client, eventId)))).toContain('Ada')
  })

  test('cancel a call that runs elsewhere [LEG-052]', async () => {
    const fleet = createLinkedServers()
    const { request, events } = await startCall(fleet, 'greet')
    const { id } = await readServerRequest(events)
    fleet.getInstance(1)
    const params = { requestId: request.id }
    await fleet.client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
    expect(await events.readMessage()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: id } })
    expect(await events.readMessage()).toBeUndefined()
  })

  test('end a call that they continue for a client that has left [LEG-092 LDG-001]', async () => {
    const fleet = createLinkedServers({ resumeWindowMs: 50 })
    const { events } = await startCall(fleet, 'pair')
    const { id } = await question(events)
    fleet.getInstance(0).kill()
    await events.leave()
    const { ledger } = fleet.getInstance(1).server
    expect((await fleet.client.post(answerOf(id, ada))).status).toBe(202)
    await expect.poll(() => fleet.steps).toEqual(['Ada'])
    await expect.poll(() => [ledger.usedInAll('waiting_calls'), ledger.usedInAll('questions')]).toEqual([0, 0])
  })

  test('know at once that a session was deleted, also one that they have served before [LEG-088]', async () => {
    const fleet = createLinkedServers()
    fleet.getInstance(0)
    await fleet.client.initialize({ capabilities: allCapabilities })
    for (const place of [0, 1, 2]) {
      fleet.getInstance(place)
      expect((await fleet.client.post(createRpcRequest('ping'))).status).toBe(200)
    }
    fleet.getInstance(1)
    expect((await fleet.client.end()).status).toBe(204)
    for (const place of [0, 1, 2]) {
      fleet.getInstance(place)
      expect((await fleet.client.post(createRpcRequest('ping'))).status).toBe(404)
    }
  })

  test('share the log level of a session [LEG-059]', async () => {
    const fleet = createLinkedServers()
    fleet.getInstance(0)
    await fleet.client.initialize({ capabilities: allCapabilities })
    await fleet.client.request('logging/setLevel', { level: 'debug' })
    fleet.getInstance(1)
    const events = await fleet.client.openStream(createToolCall('talk'))
    const levels = [await events.readMessage(), await events.readMessage()].map((message) =>
      isJsonObject(message?.['params']) ? message['params']['level'] : undefined,
    )
    expect(levels).toEqual(['debug', 'error'])
  })

  test('leave what waits to the others when one stops, at once [LEG-092]', async () => {
    const fleet = createLinkedServers()
    const { events } = await startCall(fleet, 'greet')
    const { id, eventId } = await question(events)
    fleet.getInstance(0).server.drain()
    expect(await events.readMessage()).toBeUndefined()
    fleet.getInstance(1)
    const resumed = await resume(fleet.client, eventId)
    await fleet.client.post(answerOf(id, ada))
    expect(textIn(await responseIn(resumed))).toContain('Ada')
  })
})
