import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import * as z from 'zod'
import { keys, stateWith } from '../asking.ts'

const dishForm = z.object({ dish: z.string() })
const order = tool('order', {
  description: 'Orders a dish, which must not happen twice',
  run: async (_, ctx) => {
    const { dish } = await ctx.elicit('dish', { message: 'Which dish?', schema: dishForm })
    return dish
  },
})
const server = createServer({ name: 'dinner', version: '1.0.0', state: stateWith(keys.first), tools: [order] })
const port = process.argv[2]
if (port === undefined) serveStdio(server)
else void serveHttp(server, { port: Number(port) }).then(({ url }) => process.stdout.write(`${url}\n`))
