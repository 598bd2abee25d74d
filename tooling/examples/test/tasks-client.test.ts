import { createClient, type InputHandlers } from '@x/client'
import { createServer, tool } from '@x/server'
import { tasksClient } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { answerLater, resumeShipping, shipAll, startShipping } from '../src/tasks-client.ts'

const text = (said: string) => [{ type: 'text', text: said }]

const shipOrders = tool('ship_orders', {
  description: 'Ships every order of a day',
  input: z.object({ day: z.string() }),
  task: 'allowed',
  run: async ({ day }, ctx) => {
    const { carrier } = ctx.client?.capabilities?.elicitation
      ? await ctx.elicit('carrier', { message: 'Which carrier?', schema: z.object({ carrier: z.string() }) })
      : { carrier: 'truck' }
    ctx.progress(1, 2, 'one is on its way')
    return `Shipped the orders of ${day} by ${carrier}.`
  },
})

const bike: InputHandlers['elicit'] = () => ({ action: 'accept', content: { carrier: 'bike' } })

const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: [shipOrders],
  extensions: [tasks({ store: memoryEngine(), pollIntervalMs: 50 })],
})
const connection = { exchange: server.exchange, url: 'https://example.com/mcp' }

afterAll(() => server.close())

test('a call is followed to its result, and the user is asked during the task', async () => {
  const result = await shipAll(connection, bike, () => {})
  expect(result.content).toEqual(text('Shipped the orders of monday by bike.'))
})

test('a started task is resumed from its JSON', async () => {
  const savedTask = String(await startShipping(connection))
  const result = await resumeShipping(connection, savedTask, bike)
  expect(result).toMatchObject({ content: text('Shipped the orders of monday by bike.') })
})

test('the question of a task is answered while its states are read', async () => {
  const savedTask = String(await startShipping(connection))
  const extensions = [tasksClient({ user: 'ada' })] as const
  const capabilities = { elicitation: { form: {} } }
  const client = createClient(connection, { name: 'host', version: '1.0.0', capabilities, extensions })
  const task = client.tasks.resume(JSON.parse(savedTask))
  const asked: string[] = []
  await answerLater(task, async (message) => (asked.push(message), 'bike'))
  expect([asked, (await task.result()).content]).toEqual([
    ['Which carrier?'],
    text('Shipped the orders of monday by bike.'),
  ])
})

test('a task that has expired returns nothing', async () => {
  const savedTask = String(await startShipping(connection))
  const lostTask = savedTask.replace(/"taskId":"[^"]+"/, '"taskId":"lost"')
  expect(await resumeShipping(connection, lostTask, bike)).toBe('nothing')
})
