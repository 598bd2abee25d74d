import { once } from 'node:events'
import { createServer as createNetServer } from 'node:net'
import { connect } from 'node:http2'
import { createClient } from '@x/client'
import { createServer } from '@x/server'
import { memoryEngine } from '@x/tasks/memory'
import { tasksClient } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import { expect, test, vi } from 'vitest'
import { type FunctionQueue, queueRunner, runQueuedTask, serveRestate, taskObject } from '../src/task-runners.ts'
import { shipOrders } from '../src/tasks.ts'

test('a task continues in several functions in turn, each within its budget', async () => {
  const messages: string[] = []
  const queue: FunctionQueue = { send: async ({ taskId }) => void messages.push(taskId) }
  const shipped: string[] = []
  const orders = ['one', 'two', 'three']
  const ship = async (order: string): Promise<string> => {
    // The step takes longer than the budget of a function, so that each function ends after one step.
    await new Promise((resolve) => setTimeout(resolve, 20))
    shipped.push(order)
    return 'sent'
  }
  const store = memoryEngine()
  const createFunction = () =>
    createServer({
      name: 'shop',
      version: '1.0.0',
      tools: [shipOrders({ orders: async () => orders, ship })],
      extensions: [tasks({ store, runner: queueRunner(queue) })],
    })
  await using server = createFunction()
  const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [tasksClient()] })
  const started = await client.tasks.start('ship_orders', { day: 'monday' })
  if (started.status !== 'task') throw new Error('The call did not become a task')
  let functions = 0
  for (let taskId = messages.shift(); taskId !== undefined; taskId = messages.shift()) {
    const instance = createFunction()
    await runQueuedTask(instance.tasks, queue, { taskId, remainingMs: 10 })
    functions += 1
  }
  const { content } = await started.task.result()
  expect(content).toEqual([{ type: 'text', text: 'Shipped 3 orders.' }])
  expect([shipped, functions > 1]).toEqual([orders, true])
})

test('the endpoint of Restate ends while a connection to it is open', async () => {
  // Restate warns that the endpoint checks no signatures.
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  const reserved = createNetServer().listen(0)
  await once(reserved, 'listening')
  const address = reserved.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  reserved.close()
  await once(reserved, 'close')
  await using server = createServer({
    name: 'shop',
    version: '1.0.0',
    extensions: [tasks({ store: memoryEngine() })],
    close: () => close(),
  })
  const close = await serveRestate(taskObject(server.tasks), port)
  const session = connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  await once(session, 'connect')
  const closed = once(session, 'close')
  await server.close()
  await closed
})
