import type { Exchange } from '@x/exchange'
import { createServer, sealedState, tool, ToolError, toolResult } from '@x/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { OpenQuestion } from './questions.ts'
import { createSession, type Session } from './session.ts'

const item = { id: 7, rev: 2, type: 'Bug', title: 'It rains', state: 'Active' }

function workItemsServer(ask: (elicit: () => Promise<unknown>) => Promise<string>): Exchange {
  return createServer({
    name: 'work-items',
    version: '2.0.0',
    state: sealedState({ keys: [crypto.getRandomValues(new Uint8Array(32))] }),
    tools: [
      tool('list_work_items', {
        description: 'Lists',
        run: () => toolResult({ content: [], structuredContent: { workItems: [item], more: true } }),
      }),
      tool('get_work_item', {
        description: 'Reads',
        input: z.object({ workItemId: z.number() }),
        run: () => toolResult({ content: [], structuredContent: { ...item, fields: { 'System.State': 'Active' } } }),
      }),
      tool('update_work_item', {
        description: 'Changes',
        input: z.object({
          workItemId: z.number(),
          fields: z.record(z.string(), z.string()),
          rev: z.number().optional(),
        }),
        run: (_, ctx) => ask(() => ctx.elicit('why', { message: 'Why?', schema: z.object({ why: z.string() }) })),
      }),
    ],
  }).exchange
}

function firstQuestion({ questions }: Session): Promise<OpenQuestion> {
  return new Promise((resolve) => {
    questions.current.subscribe((question) => question && resolve(question))
  })
}

async function started(exchange: Exchange): Promise<Session> {
  const session = createSession(exchange, 'localhost:3000')
  await session.start()
  return session
}

const args = { workItemId: 7, fields: { 'System.State': 'Resolved' } }
const asked = workItemsServer(async (elicit) => `because ${JSON.stringify(await elicit())}`)

test('a session reads the work items and the tools, and shows who answered', async () => {
  const { workItems, tools, server } = await started(asked)
  expect(workItems.items.value).toEqual([item])
  expect(workItems.more.value).toBe(true)
  expect(tools.picked.value?.tool.name).toBe('update_work_item')
  expect(server.value).toBe('work-items 2.0.0')
})

test('picking a work item fills it in, with its revision', async () => {
  const { workItems, tools } = await started(asked)
  await workItems.select(7)
  const form = tools.picked.value?.form
  expect(form?.drafts.value.get('workItemId')).toBe('7')
  expect(form?.drafts.value.get('rev')).toBe('2')
  expect(workItems.selected.value).toMatchObject({ fields: { 'System.State': 'Active' } })
})

test('a call goes through its question to its result, and keeps a record of both', async () => {
  const session = await started(asked)
  const ended = session.call(args)
  const question = await firstQuestion(session)
  expect([session.calls.isRunning.value, session.announcement.value]).toEqual([true, 'Calling update_work_item …'])
  expect(question.question.message).toBe('Why?')
  question.answer({ action: 'accept', content: { why: 'rain' } })
  await ended
  const [run] = session.calls.runs.value
  expect(run?.outcome).toMatchObject({ kind: 'done', text: 'because {"why":"rain"}' })
  expect(run?.rounds.map(({ status }) => status)).toEqual(['input_required', 'complete'])
  expect(run?.rounds[0]?.asked).toEqual([{ key: 'why', message: 'Why?', answer: 'rain' }])
  expect(run?.rounds[0]?.stateBytes).toBeGreaterThan(0)
  expect(session.questions.current.value).toBeUndefined()
  expect(session.announcement.value).toBe('because {"why":"rain"}')
})

test('stopping a call takes its question away', async () => {
  const session = await started(asked)
  const ended = session.call(args)
  await firstQuestion(session)
  session.calls.stop()
  await ended
  expect(session.questions.current.value).toBeUndefined()
  expect(session.calls.runs.value[0]?.outcome).toEqual({ kind: 'stopped', text: 'The call was stopped.' })
})

test('a second call does not begin while one runs', async () => {
  const session = await started(asked)
  const ended = session.call(args)
  await firstQuestion(session)
  await session.calls.call('list_work_items', {})
  expect(session.calls.runs.value).toHaveLength(1)
  session.calls.stop()
  await ended
})

test('a tool that fails is shown as not done, in its own words', async () => {
  const failing = workItemsServer(async () => {
    throw new ToolError('The bug is asleep.')
  })
  const session = await started(failing)
  await session.call(args)
  expect(session.calls.runs.value[0]?.outcome).toEqual({ kind: 'rejected', text: 'The bug is asleep.' })
})

test('a server that answers nothing is explained where its lists would be', async () => {
  const session = await started(async () => Promise.reject(new Error('gone')))
  expect(session.workItems.failure.value).toBe('The server did not answer.')
  expect(session.tools.failure.value).toBe('The server did not answer.')
  expect(session.server.value).toBeUndefined()
})

test('a form is filled in again after the page was loaded anew, and text of another kind changes nothing', async () => {
  const { tools } = await started(asked)
  tools.pick('get_work_item')
  tools.picked.value?.form.set('workItemId', '7')
  const text = tools.serialize() ?? ''
  const session = createSession(asked, 'localhost:3000')
  await session.start('null')
  const again = session.tools
  for (const other of ['', '{"tool":"update_work_item","drafts":[["workItemId",null]]}', '{"tool":"x","drafts":[]}'])
    again.restore(other)
  expect(again.picked.value?.tool.name).toBe('update_work_item')
  await session.start(text)
  expect([again.picked.value?.tool.name, again.picked.value?.form.drafts.value.get('workItemId')]).toEqual([
    'get_work_item',
    '7',
  ])
})
