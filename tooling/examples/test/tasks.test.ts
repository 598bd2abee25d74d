import { createClient } from '@x/client'
import { createServer, tool, type Tool } from '@x/server'
import { memoryEngine } from '@x/tasks/memory'
import { tasksClient } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import { type ServerKit, testClient, testRuntime } from '@x/testing'
import { describe, expect, test } from 'vitest'
import * as programs from '../src/tasks.ts'

/** Creates a shop with twelve orders, which records the shipped ones. */
function createShop(): programs.Shop & { readonly shipped: string[] } {
  const shipped: string[] = []
  const orders = Array.from({ length: 12 }, (_, index) => `order-${index + 1}`)
  return { shipped, orders: async () => orders, ship: async (order) => (shipped.push(order), 'sent') }
}

/** Calls a tool, and counts its tasks. */
async function call(tool: Tool, args: Record<string, string | string[]>) {
  const definition = { name: 'shop', version: '1', tools: [tool] }
  const create = (kit: ServerKit) => createServer({ ...definition, ...kit, extensions: [tasks()] })
  const answers = { carrier: { carrier: 'bike' } }
  await using client = testClient(create, { answers, extensions: [tasksClient()] })
  const { content } = await client.callTool(tool.name, args)
  return { content, tasks: new Set(client.observations.tasks.map(({ taskId }) => taskId)).size }
}

test('a task ships each order once', async () => {
  const shop = createShop()
  const { content, tasks } = await call(programs.shipOrders(shop), { day: 'today' })
  expect([content, tasks]).toEqual([[{ type: 'text', text: 'Shipped 12 orders.' }], 1])
  expect(shop.shipped).toEqual(await shop.orders('today'))
})

test.each([
  [2, 0],
  [11, 1],
])('%i orders become %i tasks', async (count, tasks) => {
  const orders = Array.from({ length: count }, (_, index) => `${index}`)
  const shop = createShop()
  expect((await call(programs.shipSome(shop.ship), { orders })).tasks).toBe(tasks)
  expect(shop.shipped).toEqual(orders)
})

test('the user is asked for a carrier before the task', async () => {
  const shop = createShop()
  const { content, tasks } = await call(programs.shipWith(shop.ship), { orders: await shop.orders('today') })
  expect([content, tasks, shop.shipped.length]).toEqual([[{ type: 'text', text: 'Shipped 12 orders by bike.' }], 1, 12])
})

describe('a custom engine', () => {
  let time = 0
  const setUp = async () => {
    const engine = memoryEngine({ wallClock: () => time })
    return {
      open: async () => engine,
      advanceTime: async (ms: number) => void (time += ms),
      close: () => engine.close(),
    }
  }
  time = Date.UTC(2026, 0)
  programs.checkEngine(setUp, test)
})

test('a task of 600 ms takes its client at most 800 ms with the longest intervals of polls', async () => {
  const runtime = testRuntime()
  const slow = tool('slow', {
    description: 'Takes 600 ms',
    task: 'required',
    run: () => new Promise<string>((resolve) => runtime.setTimeout(() => resolve('done'), 600)),
  })
  const engine = memoryEngine({ wallClock: () => runtime.now() })
  await using server = createServer({
    name: 'shop',
    version: '1',
    tools: [slow],
    runtime,
    strictReplay: false,
    extensions: [tasks({ store: engine })],
  })
  const client = createClient(server, {
    name: 'test',
    version: '1',
    extensions: [tasksClient({ runtime, random: () => 1 })],
  })
  let tookMs = Number.NaN
  const call = client.callTool('slow').then(() => (tookMs = runtime.monotonicNow()))
  while (Number.isNaN(tookMs) && runtime.monotonicNow() < 2000) await runtime.advance(10)
  expect(tookMs).toBeGreaterThanOrEqual(600)
  expect(tookMs).toBeLessThanOrEqual(800)
  await call
})
