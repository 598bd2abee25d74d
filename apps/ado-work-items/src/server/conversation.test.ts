import { sessionsClient } from '@x/sessions/client'
import type { Answers } from '@x/testing'
import { expect, test } from 'vitest'
import { same, testFleet } from '../testing/test-fleet.ts'
import { textOf } from '../walk-through/connect.ts'

const tagged = { fields: { 'System.Tags': 'seen' } }

/** Starts three instances with the same key, which answer in turn. */
const fleet = (answers: Answers = {}) =>
  testFleet({ views: [same, same, same], answers, extensions: [sessionsClient()] })

test('"set it to Active" changes the work item that was read last, on whichever instance', async () => {
  await using fixture = await fleet()
  await using session = await fixture.client.sessions.create()
  await session.callTool('get_work_item', { workItemId: 4533 })
  await session.callTool('get_work_item', { workItemId: 4517 })
  const result = await session.callTool('update_last_work_item', tagged)
  expect(textOf(result).join()).toContain('Bug #4517 was changed')
  expect(new Set(fixture.client.observations.rounds.map(({ instance }) => instance)).size).toBe(3)
})

test('a change that asks its user continues in its conversation, which then refers to its work item', async () => {
  await using fixture = await fleet({ resolution: { resolution: 'Fixed' } })
  await using session = await fixture.client.sessions.create()
  await session.callTool('get_work_item', { workItemId: 4517 })
  const result = await session.callTool('update_last_work_item', { fields: { 'System.State': 'Resolved' } })
  expect(textOf(result).join()).toContain('ResolvedReason is Fixed')
})

test('without a session, or one that was about nothing yet, there is no "it"', async () => {
  await using fixture = await fleet()
  const { client } = fixture
  await using session = await client.sessions.create()
  for (const caller of [client, session]) {
    const names = (await caller.listTools()).map(({ name }) => name)
    expect(names).toEqual(['list_work_items', 'get_work_item', 'update_work_item', 'update_work_items'])
    await expect(caller.callTool('update_last_work_item', tagged)).rejects.toThrow('Unknown tool')
  }
  await session.callTool('get_work_item', { workItemId: 4517 })
  expect((await session.listTools()).map(({ name }) => name)).toContain('update_last_work_item')
})

test('a call that failed is nothing that the conversation was about', async () => {
  await using fixture = await fleet()
  await using session = await fixture.client.sessions.create()
  await session.callTool('get_work_item', { workItemId: 4517 })
  expect((await session.callTool('get_work_item', { workItemId: 999_999 })).isError).toBe(true)
  expect(textOf(await session.callTool('update_last_work_item', tagged)).join()).toContain('#4517')
})
