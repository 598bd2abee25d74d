import { randomBytes } from 'node:crypto'
import type { LogRecord } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import { createServer, type McpServer, memoryBus } from '@x/server'
import { memoryStore, migratingState, sealedState, type StateCodec } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import { describe, expect, test } from 'vitest'
import {
  answerOf,
  readServerRequest,
  createToolCall,
  createPairTool,
  allCapabilities,
  greetTool,
  textIn,
  elicitAndSampleTool,
} from '../../testing/asking.ts'
import { type EventReader, createScriptedClient, type ScriptedClient } from '../../testing/scripted-client.ts'
import { collectWarnings, createLegacyServer } from '../../testing/serve-legacy.ts'
import { legacy, type LegacyApi } from '../legacy.ts'
import type { LegacyOptions } from '../session/options.ts'

const echoing = { ...allCapabilities, experimental: { requestState: {} } }
const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } }

/** Instances that share nothing but their keys; requests go to the one that the balancer chose. */
function createFleet(options: LegacyOptions = {}, ownState?: StateCodec) {
  const state = ownState ?? sealedState({ keys: [randomBytes(32)] })
  const bus = memoryBus()
  const steps: string[] = []
  const warnings: LogRecord[] = []
  const log = collectWarnings(warnings)
  const pair = createPairTool(steps)
  const start = () => {
    const server = createLegacyServer(
      { tools: [greetTool, pair, elicitAndSampleTool], state, strictReplay: false, subscriptions: { bus }, log },
      { questionState: true, ...options },
    ) as McpServer & { readonly legacy: LegacyApi }
    return { server, handle: httpHandler(server) }
  }
  let chosen = start()
  const client = createScriptedClient((request) => chosen.handle(request))
  return {
    client,
    steps,
    warnings,
    codes: () => warnings.map(({ code }) => code),
    missingEchoCount: () => chosen.server.legacy.missingEchoCount,
    another: () => createScriptedClient((request) => chosen.handle(request)),
    /** The instance is gone with all that it knew; a new one has its keys. */
    restart: () => {
      chosen = start()
    },
  }
}

/** Reads the next question, with the id of its event and its state. */
async function question(events: EventReader) {
  for (;;) {
    const event = await events.readEvent()
    if (event === undefined) throw new Error('the stream has ended')
    const { id: eventId, message } = event
    if (message?.['method'] === undefined) continue
    return { eventId: eventId ?? '', id: String(message['id']), method: message['method'], state: message['state'] }
  }
}

const echo = (id: string, result: JsonObject, state: unknown): JsonObject => {
  return { ...answerOf(id, result), state } as JsonObject
}
const resume = (client: ScriptedClient, eventId: string): Promise<EventReader> =>
  client.get({ 'last-event-id': eventId })

describe('a question with its state', () => {
  test('goes to clients that declare the echo alone, and every question has its own [STA-001 STA-008 STA-010 LEG-099]', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: allCapabilities })
    expect((await question(await fleet.client.openStream(createToolCall('greet')))).state).toBeUndefined()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('both'))
    const questions = [await question(events), await question(events)]
    expect(questions.map(({ method }) => method)).toEqual(['elicitation/create', 'sampling/createMessage'])
    expect(new Set(questions.map(({ state }) => state)).size).toBe(2)
    const [form, model] = questions
    const sampled = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
    expect((await fleet.client.post(echo(model?.id ?? '', sampled, model?.state))).status).toBe(202)
    expect((await fleet.client.post(echo(form?.id ?? '', ada, form?.state))).status).toBe(202)
    expect(textIn(await events.readMessage())).toBe('Ada by m')
  })

  test('goes to no client without the option [STA-008 LEG-099]', async () => {
    const without = createFleet({ questionState: undefined })
    await without.client.initialize({ capabilities: echoing })
    expect((await question(await without.client.openStream(createToolCall('greet')))).state).toBeUndefined()
  })

  test('is sent where its author chose so for the tool and the kind', async () => {
    const fleet = createFleet({
      questionState: ({ tool: name, method }) => name === 'greet' || method === 'elicitation/create',
    })
    await fleet.client.initialize({ capabilities: echoing })
    const greeting = await question(await fleet.client.openStream(createToolCall('greet')))
    expect(greeting.state).toEqual(expect.any(String))
    const events = await fleet.client.openStream(createToolCall('both'))
    expect((await question(events)).state).toEqual(expect.any(String))
    expect((await question(events)).state).toBeUndefined()
    fleet.restart()
    expect((await fleet.client.post(echo(greeting.id, ada, greeting.state))).status).toBe(202)
    expect(textIn(await (await resume(fleet.client, greeting.eventId)).readMessage())).toContain('Ada')
  })

  test('needs a codec of the server, which other instances have', () => {
    expect(() =>
      createServer({ name: 'demo', version: '1.0.0', extensions: [legacy({ questionState: true })] }),
    ).toThrow('legacy({ questionState }) seals with the `state` of the server: give createServer a `state`')
  })

  test('opens once in the fleet where the instances share a store [STA-006]', async () => {
    const store = memoryStore()
    const fleet = createFleet({ store })
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('greet'))
    const { id, state } = await question(events)
    expect((await fleet.client.post(echo(id, ada, state))).status).toBe(202)
    expect(textIn(await events.readMessage())).toContain('Ada')
    fleet.restart()
    expect((await fleet.client.post(echo(id, ada, state))).status).toBe(400)
  })
})

describe('a call that waits when its instance is started again', () => {
  test('continues with the answer, takes each step once, and answers a client that resumes its stream [LEG-102 LEG-089]', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const request = createToolCall('pair')
    const events = await fleet.client.openStream(request)
    const first = await question(events)
    await fleet.client.post(echo(first.id, ada, first.state))
    const second = await question(events)
    fleet.restart()
    expect((await fleet.client.post(echo(second.id, ada, second.state))).status).toBe(202)
    const response = await (await resume(fleet.client, second.eventId)).readMessage()
    expect([response?.['id'], textIn(response)]).toEqual([request.id, 'Ada and Ada'])
    expect(fleet.steps).toEqual(['Ada', 'Ada'])
  })

  test('is read from before the answer too, asks again on the resumed stream, and keeps its event ids apart', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const first = await question(await fleet.client.openStream(createToolCall('pair')))
    fleet.restart()
    const resumed = await resume(fleet.client, first.eventId)
    expect(resumed.status).toBe(200)
    await fleet.client.post(echo(first.id, ada, first.state))
    const second = await question(resumed)
    expect(Number(second.eventId.split('.')[1]?.replace('q', ''))).toBeGreaterThan(1000)
    await fleet.client.post(echo(second.id, { action: 'decline' }, second.state))
    expect(await resumed.readMessage()).toMatchObject({ result: { isError: true } })
    expect(await resumed.readMessage()).toBeUndefined()
  })

  test('waits for every answer of its round, each with a state of its own [STA-010]', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('both'))
    const [form, model] = [await question(events), await question(events)]
    fleet.restart()
    await fleet.client.post(echo(form.id, ada, form.state))
    const resumed = await resume(fleet.client, model.eventId)
    const sampled = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' }
    await fleet.client.post(echo(model.id, sampled, model.state))
    expect(textIn(await resumed.readMessage())).toBe('Ada by m')
  })

  test('ends with the error of a model that was refused', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('both'))
    const [form, model] = [await question(events), await question(events)]
    fleet.restart()
    await fleet.client.post(echo(form.id, ada, form.state))
    const error = { code: -1, message: 'not now' }
    await fleet.client.post({ jsonrpc: '2.0', id: model.id, error, state: model.state ?? null } as JsonObject)
    expect(textIn(await (await resume(fleet.client, model.eventId)).readMessage())).toContain('not now')
  })

  test('is read by its own session alone, and an id that was made up is unknown at once [LEG-091 LEG-090]', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const { eventId, id: questionId, state } = await question(await fleet.client.openStream(createToolCall('greet')))
    fleet.restart()
    const thief = fleet.another()
    await thief.initialize({ capabilities: echoing })
    expect((await resume(thief, eventId)).status).toBe(404)
    expect((await fleet.client.post(echo(questionId, ada, state))).status).toBe(202)
    expect(textIn(await (await resume(fleet.client, eventId)).readMessage())).toContain('Ada')
    const statuses = new Set<number>()
    const streamId = eventId.slice(0, 22)
    const madeUp = Array.from({ length: 65 }, (_, index) => streamId.slice(0, 20) + String(index).padStart(2, '0'))
    for (const id of madeUp.filter((each) => each !== streamId))
      statuses.add((await resume(fleet.client, `${id}.1q`)).status)
    expect(statuses).toEqual(new Set([404]))
  })

  test('no longer waits once it was answered: its stream is unknown then', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('pair'))
    const first = await question(events)
    await fleet.client.post(echo(first.id, ada, first.state))
    const mark = await events.readEvent()
    expect(mark?.message).toBeUndefined()
    fleet.restart()
    expect((await resume(fleet.client, mark?.id ?? '')).status).toBe(404)
  })
})

describe('a state that a client returns', () => {
  test.each<[string, (given: string) => unknown]>([
    ['altered', (given) => `${given.slice(0, -2)}${given.endsWith('AA') ? 'BB' : 'AA'}`],
    ['an object', (given) => ({ given })],
    ['empty', () => ''],
    ['with a prefix', (given) => `other:${given}`],
  ])('%s is refused, and the question waits on [STA-005 LEG-101]', async (_, alter) => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('greet'))
    const { id, state } = await question(events)
    const refused = await fleet.client.post(echo(id, ada, alter(String(state))))
    expect([refused.status, isJsonObject(refused.json) && refused.json['error']]).toEqual([
      400,
      expect.objectContaining({ message: 'No call waits for this response here' }),
    ])
    expect((await fleet.client.post(echo(id, ada, state))).status).toBe(202)
    expect(textIn(await events.readMessage())).toContain('Ada')
  })

  test('of another session, of another question, late or a second time is refused with the same answer [STA-006 LEG-101]', async () => {
    let now = Date.now()
    const clock = { now: () => now }
    const fleet = createFleet({}, sealedState({ keys: [randomBytes(32)], runtime: clock }))
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('both'))
    const [form, model] = [await question(events), await question(events)]
    fleet.restart()
    const thief = fleet.another()
    await thief.initialize({ capabilities: echoing })
    expect((await thief.post(echo(form.id, ada, form.state))).status).toBe(400)
    expect((await fleet.client.post(echo(form.id, ada, model.state))).status).toBe(400)
    expect((await fleet.client.post(echo(form.id, ada, form.state))).status).toBe(202)
    expect((await fleet.client.post(echo(form.id, ada, form.state))).status).toBe(400)
    now += 24 * 3_600_000
    expect((await fleet.client.post(echo(model.id, ada, model.state))).status).toBe(400)
    expect(new Set(fleet.codes())).toEqual(new Set(['state_rejected', 'unknown_answer']))
  })

  test('after its call has ended runs nothing again [STA-006 LEG-101]', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('pair'))
    const first = await question(events)
    await fleet.client.post(echo(first.id, ada, first.state))
    const second = await question(events)
    await fleet.client.post(echo(second.id, ada, second.state))
    expect(textIn(await events.readMessage())).toBe('Ada and Ada')
    expect((await fleet.client.post(echo(first.id, ada, first.state))).status).toBe(400)
    expect((await fleet.client.post(echo(second.id, ada, second.state))).status).toBe(400)
    expect(fleet.steps).toEqual(['Ada', 'Ada'])
  })

  test('not at all falls back to the call that waits here, and is counted [STA-007]', async () => {
    const fleet = createFleet()
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('pair'))
    await fleet.client.post(answerOf((await readServerRequest(events)).id, ada))
    await fleet.client.post(answerOf((await readServerRequest(events)).id, ada))
    expect(textIn(await events.readMessage())).toBe('Ada and Ada')
    expect([fleet.missingEchoCount(), fleet.codes()]).toEqual([2, ['missing_echo']])
    fleet.restart()
    expect((await fleet.client.post(answerOf('gone', ada))).status).toBe(400)
  })

  test('too late does not run the call on at the instance that asked: another may have', async () => {
    const fleet = createFleet({ answerTimeoutMs: 30 })
    await fleet.client.initialize({ capabilities: echoing })
    const events = await fleet.client.openStream(createToolCall('greet'))
    const { id, state } = await question(events)
    expect(await events.readMessage()).toMatchObject({ method: 'notifications/cancelled' })
    expect(textIn(await events.readMessage())).toContain('did not answer in time')
    expect((await fleet.client.post(echo(id, ada, state))).status).toBe(400)
  })
})

test.each(['dual', 'state-first', 'state'] as const)(
  'a migration in the phase %s opens what a client returns, and reports when to move on [STA-009]',
  async (phase) => {
    const store = memoryStore()
    const codec = migratingState({
      phase,
      state: sealedState({ keys: [randomBytes(32)] }),
      ...(phase !== 'state' && { store }),
    })
    const fleet = createFleet({}, codec)
    await fleet.client.initialize({ capabilities: echoing })
    const { id, state, eventId } = await question(await fleet.client.openStream(createToolCall('greet')))
    fleet.restart()
    await fleet.client.post(echo(id, ada, state))
    expect(textIn(await (await resume(fleet.client, eventId)).readMessage())).toContain('Ada')
    expect(codec.report()).toMatchObject({ phase, rejectedCount: 0, fallbackCount: 0 })
  },
)
