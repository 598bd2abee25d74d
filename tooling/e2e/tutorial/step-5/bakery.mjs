import { appendFileSync } from 'node:fs'
import { legacy } from '@x/legacy'
import { createServer, form, tool } from '@x/server'
import * as z from 'zod'

const prices = { apple: 18, cheese: 24 }
const input = z.object({ cake: z.enum(['apple', 'cheese']) })

const price = tool('price', {
  description: 'Returns the price of a cake',
  input,
  run: ({ cake }) => `The ${cake} cake costs ${prices[cake]} euros`,
})

const guestsForm = form(z.object({ guests: z.number().int().min(1).max(12) }))

const order = tool('order', {
  description: 'Orders a cake',
  input,
  async run({ cake }, ctx) {
    await ctx.step('save', () => appendFileSync('orders.txt', `one ${cake} cake\n`))
    const { guests } = await ctx.elicit('guests', { message: 'How many guests?', schema: guestsForm })
    return `Ordered: one ${cake} cake for ${guests}`
  },
})

export const createBakery = (options) =>
  createServer({ name: 'bakery', version: '1.0.0', tools: [price, order], extensions: [legacy()], ...options })
