import { expect, test } from 'vitest'
import { z } from 'zod'
import { createServer, resource, tool } from '../index.ts'
import { callTool, collector, textOf } from '../testing/ask.ts'
import { handBus, listening } from '../testing/listening.ts'

const about = { name: 'demo', version: '1.0.0' }
const notes = resource('text://notes', { name: 'Notes', read: () => '' })
const filter = { resourcesListChanged: true, resourceSubscriptions: ['text://notes'] }
const change = tool('change', {
  description: 'Changes the notes',
  input: z.object({ steps: z.boolean() }),
  async run({ steps }, ctx) {
    const notify = () => ctx.notifyResourceUpdated('text://notes')
    await (steps ? ctx.step('save', notify) : notify())
    await ctx.notifyListChanged('resources')
    return 'changed'
  },
})

test.each([false, true])(
  'a handler notifies subscribers of its changes, within a step (%s) or beside it',
  async (steps) => {
    const server = createServer({ ...about, tools: [change], resources: [notes], strictReplay: false })
    const stream = await listening(server, filter)
    expect(textOf(await callTool(server, 'change', { steps }))).toBe('changed')
    expect(stream.changes()).toEqual(['text://notes', 'resources'])
  },
)

test('a change bus that fails is reported, and the call that has changed something goes on', async () => {
  const { reported, onError } = collector()
  const failure = new Error('the bus is away')
  const bus = handBus({ publish: () => Promise.reject(failure) })
  const options = { subscriptions: { bus }, strictReplay: false, onError }
  const server = createServer({ ...about, tools: [change], resources: [notes], ...options })
  expect(textOf(await callTool(server, 'change', { steps: false }))).toBe('changed')
  expect(reported).toEqual([
    { error: failure, where: { method: 'notifications/resources/updated' } },
    { error: failure, where: { method: 'notifications/resources/list_changed' } },
  ])
})

test('a server without subscriptions has nobody to notify', async () => {
  const server = createServer({ ...about, tools: [change], resources: [notes], subscriptions: false })
  expect(textOf(await callTool(server, 'change', { steps: true }))).toBe('changed')
})
