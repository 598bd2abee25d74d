import { createServer, tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import * as z from 'zod'

const prices = { apple: 18, cheese: 24 }

const price = tool('price', {
  description: 'Returns the price of a cake',
  input: z.object({ cake: z.enum(['apple', 'cheese']) }),
  run: ({ cake }) => `The ${cake} cake costs ${prices[cake]} euros`,
})

serveStdio(createServer({ name: 'bakery', version: '1.0.0', tools: [price] }))
