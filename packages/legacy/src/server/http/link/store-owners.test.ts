import { callerKeyOf, createCall } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { memoryBus } from '@x/server'
import { memoryStore, type StateStore } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import { expect, test } from 'vitest'
import { allCapabilities, answerOf, createToolCall, readServerRequest, textIn } from '../../../testing/asking.ts'
import { createLinkedServers } from '../../../testing/linked-fleet.ts'
import { createScriptedClient, type ScriptedClient } from '../../../testing/scripted-client.ts'
import { createLegacyServer } from '../../../testing/serve-legacy.ts'

const ada: JsonObject = { action: 'accept', content: { name: 'Ada' } }

/** Creates a store that notes the owner of each record that is added, by the kind of the record. */
function createOwnedStore() {
  const store = memoryStore()
  const ownersByKind: Record<string, Set<string | undefined>> = {}
  const withOwner = (owner: string | undefined): StateStore => {
    const ownerStore = owner === undefined ? store : (store.forOwner?.(owner) ?? store)
    return {
      add(key, value, ttlMs) {
        const [, kind = key] = key.split(':')
        ownersByKind[kind] = (ownersByKind[kind] ?? new Set()).add(owner)
        return ownerStore.add(key, value, ttlMs)
      },
      get: (key) => ownerStore.get(key),
      delete: (key) => ownerStore.delete(key),
    }
  }
  return { ownersByKind, store: { ...withOwner(undefined), forOwner: withOwner } }
}

test('each record of a link has the caller as its owner, at instances that do not know the session too [LDG-001]', async () => {
  const { ownersByKind, store } = createOwnedStore()
  const fleet = createLinkedServers({ store })
  fleet.getInstance(0)
  await fleet.client.initialize({ capabilities: allCapabilities })
  await fleet.client.request('logging/setLevel', { level: 'debug' })
  await fleet.client.request('logging/setLevel', { level: 'info' })
  const other = fleet.createClient()
  await other.initialize({ capabilities: allCapabilities })
  const events = await other.openStream(createToolCall('pair'))
  for (const place of [1, 2]) {
    const { id } = await readServerRequest(events)
    fleet.getInstance(place)
    expect((await other.post(answerOf(id, ada))).status).toBe(202)
  }
  expect(textIn(await events.readMessage())).toBe('Ada and Ada')
  expect((await other.end()).status).toBe(204)
  await expect.poll(() => Object.keys(ownersByKind).toSorted()).toContain('end')
  const { lock, ...records } = ownersByKind
  const owners = new Set([callerKeyOf(createCall())])
  expect(records).toEqual({ answer: owners, call: owners, end: owners, run: owners, session: owners })
  // A lock is deleted with the change of the session that it protects.
  expect(lock).toEqual(new Set([undefined]))
})

test('a caller whose records fill its share of the store is refused, and others set levels and end sessions [LDG-003 LDG-006]', async () => {
  const store = memoryStore({ maxEntries: 40, maxEntriesPerOwner: 4 })
  const server = createLegacyServer({ tools: [], subscriptions: { bus: memoryBus() } }, { store })
  const handler = httpHandler(server, { clientAddress: ({ header }) => header('x-caller') })
  const connect = async (address: string): Promise<ScriptedClient> => {
    const client = createScriptedClient(handler, '2025-11-25', { 'x-caller': address })
    await client.initialize()
    return client
  }
  const setLevel = (client: ScriptedClient): Promise<JsonObject> =>
    client.request('logging/setLevel', { level: 'error' })
  for (let index = 0; index < 4; index += 1)
    expect(await setLevel(await connect('192.0.2.66'))).toMatchObject({ result: {} })
  for (let index = 0; index < 40; index += 1)
    expect(await setLevel(await connect('192.0.2.66'))).toMatchObject({
      error: { code: -32603, data: { reason: 'quota' } },
    })
  const honest = await connect('192.0.2.1')
  expect(await setLevel(honest)).toMatchObject({ result: {} })
  expect((await honest.end()).status).toBe(204)
})
