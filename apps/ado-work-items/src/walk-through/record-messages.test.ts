import { afterEach, expect, test, vi } from 'vitest'
import { createRecordingFetch, decodeEvents, type WireMessage } from './record-messages.ts'

afterEach(() => vi.unstubAllGlobals())

const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', state: 'sealed' }
const signal = new AbortController().signal

/** Sends one request, and returns the recorded messages and the body that the client reads. */
async function send(body: object | undefined, response: Response) {
  vi.stubGlobal('fetch', async () => response)
  const messages: WireMessage[] = []
  const fetch = createRecordingFetch((message) => messages.push(message))
  const options = { method: 'POST', signal, redirect: 'manual' } as const
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const text = await (await fetch('http://localhost/mcp', { ...options, ...sent, headers: [] })).text()
  return { messages, text }
}

test('the messages of an event stream are recorded with their state and instance, however the stream is cut', async () => {
  const text = `id: 1\ndata: ${JSON.stringify(question)}\n\nid: 2\ndata:\n\n`
  const chunks = Array.from(text, (character) => new TextEncoder().encode(character))
  const headers = { 'content-type': 'text/event-stream', 'x-instance': '3; pid=42' }
  const sent = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const recorded = await send(sent, new Response(ReadableStream.from(chunks), { headers }))
  expect(recorded.messages).toEqual([
    { sender: 'client', message: sent, state: undefined, instance: undefined },
    { sender: 'server', message: question, state: 'sealed', instance: { id: 3, pid: 42 } },
  ])
  expect(recorded.text).toBe(text)
})

test.each([
  ['a response without a body', new Response(null, { status: 202 }), 0],
  ['JSON that is no message', Response.json({ error: 'invalid_token' }, { status: 401 }), 0],
  ['a text', new Response('not found', { status: 404 }), 0],
  ['a message with an invalid header', Response.json(question, { headers: { 'x-instance': '3' } }), 1],
])('%s is passed on', async (_, response, count) => {
  const text = await response.clone().text()
  const recorded = await send(undefined, response)
  expect(recorded.messages).toHaveLength(count)
  expect(recorded.messages[0]?.instance).toBeUndefined()
  expect(recorded.text).toBe(text)
})

test('the rest of a text is the beginning of an event', () => {
  expect(decodeEvents('id: 1\ndata: a\n\nid: 2')).toEqual({ events: [{ id: '1', data: 'a' }], rest: 'id: 2' })
})
