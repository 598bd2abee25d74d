import { randomBytes } from 'node:crypto'
import { createClient } from '@x/client'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

// Simulates a bank, which ignores a payment with a known key.
const payments = new Map()
const pay = tool('pay', {
  description: 'Pays an amount',
  input: z.object({ amount: z.number().positive() }),
  keyedEffects: true,
  async run({ amount }, ctx) {
    await ctx.step('pay', ({ idempotencyKey }) => void payments.set(idempotencyKey, amount))
    return `Paid ${amount}`
  },
})
const server = createServer({ name: 'payments', version: '1.0.0', tools: [pay] })
const client = createClient(server, { name: 'host', version: '1.0.0' })

const idempotencyKey = randomBytes(16).toString('base64url')
const first = await client.callTool('pay', { amount: 5 }, { idempotencyKey })
const again = await client.callTool('pay', { amount: 5 }, { idempotencyKey })
console.log(first.content[0], again.content[0], payments.size)
