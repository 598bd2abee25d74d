import type { JournalEntry } from '@x/exchange'
import type { JsonObject, JsonValue } from '@x/schema'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPayload, type RunnableCall, createPayload } from './task-payload.ts'

const request = (params: JsonObject) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) as const
const claimed = (payload: JsonObject, entries: readonly JournalEntry[] = []) => ({
  id: 'a',
  attempt: 1,
  token: 'token',
  failures: 0,
  waitedMs: 0,
  responses: {},
  isCancelling: false,
  payload,
  entries,
})

/** Parses a payload that this version must know. */
async function workOf(...given: Parameters<typeof readPayload>): Promise<RunnableCall> {
  const work = await readPayload(...given)
  if ('code' in work) throw new Error(`this instance lacks ${work.description}`)
  return work
}

test('the members that belong to one request are omitted', async () => {
  const meta = {
    'io.modelcontextprotocol/logLevel': 'debug',
    'io.modelcontextprotocol/session': { token: 'topsecret' },
    progressToken: 1,
    'com.example/kept': true,
  }
  const params = { name: 'do', arguments: { a: 1 }, requestState: 'token', inputResponses: {}, _meta: meta }
  const payload = await createPayload(
    { id: 'a', request: request(params), principal: undefined, journal: {}, extensionRecords: {} },
    undefined,
  )
  const work = await workOf(claimed(payload), undefined)
  expect(work.params).toEqual({ name: 'do', arguments: { a: 1 }, _meta: { 'com.example/kept': true } })
})

test('answers in the first request, before any question, are stored', async () => {
  const params = { name: 'do', inputResponses: { who: { action: 'cancel' } }, _meta: {} }
  const payload = await createPayload(
    { id: 'a', request: request(params), principal: undefined, journal: {}, extensionRecords: {} },
    undefined,
  )
  expect((await workOf(claimed(payload), undefined)).params).toEqual(params)
})

test('a journal is restored from its first state and all later entries', async () => {
  const key = fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor'), fc.string())
  const value: fc.Arbitrary<JsonValue> = fc.jsonValue().map((given) => JSON.parse(JSON.stringify(given)))
  const entry = fc.record({
    member: fc.constantFrom('steps', 'uuids'),
    key,
    value: fc.option(value, { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(entry), async (entries) => {
      const expected = new Map([
        ['steps', new Map<string, JsonValue>([['first', 1]])],
        ['uuids', new Map<string, JsonValue>()],
      ])
      for (const { member, key, value } of entries) {
        if (value === undefined) expected.get(member)?.delete(key)
        else expected.get(member)?.set(key, value)
      }
      const payload = { v: 1, method: 'tools/call', params: {}, journal: { round: 1, steps: { first: 1 } } }
      const { journal } = await workOf(claimed(payload, entries), undefined)
      for (const [part, members] of expected) {
        expect(new Map(Object.entries(journal[part] ?? {}))).toEqual(members)
      }
      expect(journal['round']).toBe(1)
    }),
  )
})

test('a member of the journal is replaced and removed', async () => {
  const payload = { v: 1, method: 'tools/call', params: {}, journal: { round: 1, explicit: { kinds: {} } } }
  const entries = [
    { member: 'round', value: 2 },
    { member: 'explicit', value: undefined },
  ]
  expect((await workOf(claimed(payload, entries), undefined)).journal).toEqual({ round: 2 })
})

test.each<[string, JsonObject]>([
  ['another version', { v: 2, method: 'tools/call', params: {}, journal: {}, parts: {} }],
  ['no journal', { v: 1, method: 'tools/call', params: {} }],
  ['nothing', {}],
])('a payload of %s is not run', async (_title, payload) => {
  expect(await readPayload(claimed(payload), undefined)).toMatchObject({
    description: expect.stringContaining('format'),
  })
})

test('what an extension has sealed is not left out by an instance without keys', async () => {
  const payload = { v: 1, method: 'tools/call', params: {}, journal: {}, parts: { sessions: {} }, sealedParts: 'token' }
  const lacking = { description: expect.stringContaining('keys') }
  expect(await readPayload(claimed(payload), undefined)).toMatchObject(lacking)
})
