import { legacy } from '@x/legacy'
import { createServer, form, randomKey, sealedState, tool } from '@x/server'
import { callLog } from '@x/server/log'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const question = {
  message: 'What would you like to eat?',
  schema: form(z.object({ dish: z.enum(['pizza', 'ramen', 'salad']) })),
}

const order = tool('order_dinner', {
  description: 'Orders dinner for some guests',
  input: z.object({ guests: z.number().int().min(1) }),
  async run({ guests }, ctx) {
    const { dish } = await ctx.elicit('dish', question)
    const number = await ctx.step('order', () => Math.ceil(Math.random() * 1000))
    return `Order ${number}: ${guests} x ${dish}`
  },
})

const server = createServer({
  name: 'dinner',
  version: '1.0.0',
  tools: [order],
  // Instances with the same keys continue each other's calls.
  state: sealedState({ keys: process.env.STATE_KEYS?.split(',') ?? [randomKey()] }),
  // `legacy` serves hosts of older revisions, and `callLog` logs each failed or slow call.
  extensions: [callLog({ log: console.error }), legacy()],
})

const port = Number(process.env.PORT ?? 3000)
const http = await serveHttp(server, { port, stopOnSignals: true })
console.log(`Serving ${http.url} in process ${process.pid}`)
