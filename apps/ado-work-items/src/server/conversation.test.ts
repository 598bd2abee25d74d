import type { CallToolResult } from '@x/schema'
import { sessionsClient } from '@x/sessions/client'
import { type Answers, type ServerKit, testClient } from '@x/testing'
import { expect, test } from 'vitest'
import { emulated } from '../testing/emulated.ts'
import { textOf } from '../walk-through/connect.ts'
import { defineConversations } from './conversation.ts'
import { createWorkItemsServer } from './create-work-items-server.ts'

const active = { fields: { 'System.State': 'Active' } }
const resolved = { fields: { 'System.State': 'Resolved' } }
const joinedText = (result: CallToolResult): string => textOf(result).join(' ')

/** Starts three instances with the same key, which answer in turn. */
async function fleet(answers: Answers = {}) {
  const service = await emulated()
  const create = (kit: ServerKit) =>
    createWorkItemsServer(service.azureDevOps, { ...kit, conversations: defineConversations() })
  const client = testClient(create, { answers, instanceCount: 3, extensions: [sessionsClient()] })
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

test('"set it to Active" changes the work item that was read last, on whichever instance', async () => {
  await using fixture = await fleet()
  await using session = await fixture.client.sessions.create()
  await session.callTool('get_work_item', { workItemId: 4533 })
  await session.callTool('get_work_item', { workItemId: 4517 })
  const result = await session.callTool('update_last_work_item', { fields: { 'System.Tags': 'seen' } })
  expect(joinedText(result)).toContain('Bug #4517 was changed')
  expect(new Set(fixture.client.observations.rounds.map(({ instance }) => instance)).size).toBe(3)
})

test('a change that asks its user continues in its conversation, which then refers to its work item', async () => {
  await using fixture = await fleet({ resolution: { resolution: 'Fixed' } })
  await using session = await fixture.client.sessions.create()
  await session.callTool('get_work_item', { workItemId: 4517 })
  const result = await session.callTool('update_last_work_item', resolved)
  expect(joinedText(result)).toContain('ResolvedReason is Fixed')
})

test('without a session, or one that was about nothing yet, there is no "it"', async () => {
  await using fixture = await fleet()
  const { client } = fixture
  await using session = await client.sessions.create()
  for (const caller of [client, session]) {
    const names = (await caller.listTools()).map(({ name }) => name)
    expect(names).toEqual(['list_work_items', 'get_work_item', 'update_work_item', 'update_work_items'])
    await expect(caller.callTool('update_last_work_item', active)).rejects.toThrow('Unknown tool')
  }
  await session.callTool('get_work_item', { workItemId: 4517 })
  expect((await session.listTools()).map(({ name }) => name)).toContain('update_last_work_item')
})

test('a call that failed is nothing that the conversation was about', async () => {
  await using fixture = await fleet()
  await using session = await fixture.client.sessions.create()
  await session.callTool('get_work_item', { workItemId: 4517 })
  expect((await session.callTool('get_work_item', { workItemId: 999_999 })).isError).toBe(true)
  expect(joinedText(await session.callTool('update_last_work_item', { fields: { 'System.Tags': 'x' } }))).toContain(
    '#4517',
  )
})
