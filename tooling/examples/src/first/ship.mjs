import { createClient } from '@x/client'
import { createServer, form, tool } from '@x/server'
import { tasksClient } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'

const carrierForm = form(z.object({ carrier: z.enum(['bike', 'truck']) }))

const shipOrders = tool('ship_orders', {
  description: 'Ships all orders of a day',
  input: z.object({ day: z.string() }),
  task: 'allowed',
  async run({ day }, ctx) {
    const orders = await ctx.step('orders', () => [17, 18])
    const { carrier } = await ctx.elicit('carrier', { message: 'Which carrier?', schema: carrierForm })
    for (const order of orders)
      await ctx.step(`ship/${order}`, () => console.log(`Order ${order} leaves by ${carrier}`))
    return `${orders.length} orders of ${day} shipped`
  },
})

const server = createServer({
  name: 'shop',
  version: '1.0.0',
  tools: [shipOrders],
  extensions: [tasks({ store: 'memory:' })],
})
const client = createClient(server, {
  name: 'host',
  version: '1.0.0',
  elicit: () => ({ action: 'accept', content: { carrier: 'bike' } }),
  extensions: [tasksClient({ onTask: ({ tool: name }) => console.log(`${name} runs as a task`) })],
})
const { content } = await client.callTool('ship_orders', { day: 'monday' })
console.log(content[0])
await server.close()
