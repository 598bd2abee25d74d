import type { InputHandlers } from '@x/client'
import { createServer, tool } from '@x/server'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { resumeShipping, type Notebook, shipAll, startShipping } from '../src/tasks-client.ts'

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

function notebook(): Notebook {
  let page = ''
  return {
    read: async () => page,
    write: async (words) => {
      page = words
    },
  }
}

afterAll(() => server.close())

test('a call is followed to its result, and the user is asked during the task', async () => {
  const result = await shipAll(connection, bike, () => {})
  expect(result.content).toEqual(text('Shipped the orders of monday by bike.'))
})

test('a started task is resumed from the notes', async () => {
  const notes = notebook()
  expect(await startShipping(connection, notes)).toBe('the orders are being shipped')
  const result = await resumeShipping(connection, notes, bike)
  expect(result).toMatchObject({ content: text('Shipped the orders of monday by bike.') })
})

test('a task that has expired returns nothing', async () => {
  const notes = notebook()
  await startShipping(connection, notes)
  await notes.write((await notes.read()).replace(/"taskId":"[^"]+"/, '"taskId":"lost"'))
  expect(await resumeShipping(connection, notes, bike)).toBe('nothing')
})
