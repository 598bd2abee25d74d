import { createClient } from '@x/client'
import { createServer, form, tool } from '@x/server'
import * as z from 'zod'

const sizeForm = form(z.object({ size: z.enum(['small', 'large']) }))

const orderPizza = tool('order_pizza', {
  description: 'Orders a pizza',
  async run(_, ctx) {
    console.log('The handler starts')
    const order = await ctx.step('create', () => {
      console.log('An order is created')
      return { id: 17 }
    })
    const { size } = await ctx.elicit('size', { message: 'Which size?', schema: sizeForm })
    return `Order ${order.id}: one ${size} pizza`
  },
})

const server = createServer({ name: 'pizzeria', version: '1.0.0', tools: [orderPizza] })
const client = createClient(server, {
  name: 'host',
  version: '1.0.0',
  elicit: ({ message }) => {
    console.log(`The user reads: ${message}`)
    return { action: 'accept', content: { size: 'large' } }
  },
})
const { content } = await client.callTool('order_pizza')
console.log(content[0])
