import type { JsonObject } from '@x/schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readInstanceHeader } from './fleet/instance-header.ts'
import { serveOrganization } from './testing/organization.ts'
import { checkBuilt, endStarted, isRunning, start } from './testing/start-app.ts'
import { decodeEvents } from './walk-through/record-messages.ts'

beforeAll(checkBuilt)
afterAll(endStarted)

const callId = 2
const question = 'Resolving Bug #4517 requires a resolution. How was this bug resolved?'

test('SEP-1685: the answer returns the state of the question, and another instance continues the call of the one that was killed', async () => {
  await using service = await serveOrganization()
  const app = start(['--port', '0', '--instances', '3'], service.environment)
  const send = createSender(await app.url)
  await send.initialize()

  const called = await send.post({ id: callId, method: 'tools/call', params: resolve4517 })
  const messages = readMessages(called)
  const asked = await readUntil(messages, ({ method }) => method === 'elicitation/create')
  const { id, state } = asked.message
  expect(asked.message).toMatchObject({ state: expect.any(String), params: { message: question } })
  const { pid: askingPid = Number.NaN } = readInstanceHeader(called.headers) ?? {}
  process.kill(askingPid, 'SIGKILL')
  // The system may close the stream before the port, which then accepts one more connection.
  await expect.poll(() => isRunning(askingPid)).toBe(false)

  const answer = { action: 'accept', content: { resolution: 'Fixed' } }
  const accepted = await send.post({ id, state, result: answer })
  expect(accepted.status).toBe(202)
  const resumed = await send.resume(asked.eventId)
  const { message } = await readUntil(readMessages(resumed), (one) => one['id'] === callId)
  expect(message).toMatchObject({ result: { structuredContent: { id: 4517, state: 'Resolved' } } })
  const continuing = readInstanceHeader(resumed.headers)
  expect(continuing).toEqual(readInstanceHeader(accepted.headers))
  expect(continuing?.pid).not.toBe(askingPid)

  app.child.kill('SIGINT')
  expect((await app.ended).code).toBe(0)
})

const resolve4517 = {
  name: 'update_work_item',
  arguments: { workItemId: 4517, fields: { 'System.State': 'Resolved' } },
}

/** A client of 2025-11-25 that declares the capability of SEP-1685. */
function createSender(url: string) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const post = (message: object): Promise<Response> =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) })
  return {
    post,
    resume: (eventId: string) => fetch(url, { headers: { ...headers, 'last-event-id': eventId } }),
    initialize: async (): Promise<void> => {
      const protocolVersion = '2025-11-25'
      const capabilities = { elicitation: {}, experimental: { requestState: {} } }
      const params = { protocolVersion, capabilities, clientInfo: { name: 'old', version: '1.0.0' } }
      const response = await post({ id: 1, method: 'initialize', params })
      headers['mcp-session-id'] = response.headers.get('mcp-session-id') ?? ''
      headers['mcp-protocol-version'] = protocolVersion
    },
  }
}

interface EventMessage {
  readonly eventId: string
  readonly message: JsonObject
}

/** Yields the messages of an event stream with the ids of their events. */
async function* readMessages({ body }: Response): AsyncGenerator<EventMessage> {
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const { events, rest } = decodeEvents(text + chunk)
    text = rest
    for (const { id, data } of events) yield { eventId: id, message: JSON.parse(data) }
  }
}

/** Reads up to the first message that satisfies the condition. The rest of the stream can be read afterwards. */
async function readUntil(
  messages: AsyncGenerator<EventMessage>,
  isWanted: (message: JsonObject) => boolean,
): Promise<EventMessage> {
  for (;;) {
    const { done, value } = await messages.next()
    if (done === true) throw new Error('The stream ended before the message')
    if (isWanted(value.message)) return value
  }
}
