import { createLedger, LimitError } from '@x/core'
import { limitErrorToMcp, type Middleware, unavailableError } from '@x/exchange'
import { type JsonObject, McpError } from '@x/schema'
import { httpHandler } from '@x/transport-http'
import { expect, test } from 'vitest'
import {
  allCapabilities,
  answerOf,
  createPairTool,
  createToolCall,
  readServerRequest,
  textIn,
} from '../../testing/asking.ts'
import { createScriptedClient, type EventReader } from '../../testing/scripted-client.ts'
import { createLegacyServer } from '../../testing/serve-legacy.ts'
import { toBegunResponse } from './later-round.ts'

const overload = new LimitError('calls', { scope: 'all', max: 1 })
const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } }

/** Connects a client to a server that rejects the rounds with the given numbers before they begin. */
async function connectPair(rejections: Readonly<Record<number, McpError>>) {
  const steps: string[] = []
  let round = 0
  const reject: Middleware = (next) => async (request, call) => {
    if (request.method === 'tools/call') round += 1
    const error = rejections[round]
    if (request.method === 'tools/call' && error !== undefined) throw error
    return next(request, call)
  }
  const server = createLegacyServer({ tools: [createPairTool(steps)], strictReplay: false, use: [reject] })
  const client = createScriptedClient(httpHandler(server))
  await client.initialize({ capabilities: allCapabilities })
  return { client, steps }
}

/** Calls the tool that asks twice. */
async function callPair(rejections: Readonly<Record<number, McpError>>) {
  const { client, steps } = await connectPair(rejections)
  const events = await client.openStream(createToolCall('pair'))
  const answer = async (): Promise<void> => {
    await client.post(answerOf((await readServerRequest(events)).id, ada))
  }
  return { steps, events, answer }
}

async function readResponse(events: EventReader): Promise<JsonObject | undefined> {
  const message = await events.readMessage()
  return message?.['method'] === undefined ? message : readResponse(events)
}

test('a round that a store or the load kept from its begin is sent again, and its client waits [LEG-093]', async () => {
  const overloaded = limitErrorToMcp(overload)
  const rejections = { 2: unavailableError({ begun: false, retryAfterMs: 1 }), 4: overloaded }
  const { steps, events, answer } = await callPair(rejections)
  await answer()
  await answer()
  expect(textIn(await readResponse(events))).toBe('Ada and Ada')
  expect(steps).toEqual(['Ada', 'Ada'])
})

test.each([
  ['of a server', unavailableError({ begun: false, retryAfterMs: 60_000 })],
  // It says no reason.
  [
    'of a gateway',
    new McpError(-32603, 'No answer', { data: { upstream: 'pay', begun: false, retryAfterMs: 60_000 } }),
  ],
])(
  'an error %s in a later round says that the call has begun, so that no client sends it again [LEG-093]',
  async (_title, error) => {
    const { steps, events, answer } = await callPair({ 3: error })
    await answer()
    await answer()
    expect(await readResponse(events)).toMatchObject({ error: { data: { ...Object(error.data), begun: true } } })
    expect(steps).toEqual(['Ada'])
  },
)

test('an error of the first round says that the call has not begun', async () => {
  const { client } = await connectPair({ 1: unavailableError({ begun: false }) })
  const { status, json } = await client.post(createToolCall('pair'))
  expect([status, json]).toMatchObject([503, { error: { data: { reason: 'unavailable', begun: false } } }])
})

test('a limit that is reached between two rounds says that the call has begun', () => {
  const deps = { ledger: createLedger() }
  expect(toBegunResponse(1, overload, deps)).toMatchObject({ error: { data: { reason: 'overloaded', begun: true } } })
  expect(toBegunResponse(1, new Error('a fault'), deps)).toBeUndefined()
})
