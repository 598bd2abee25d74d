import { setTimeout } from 'node:timers/promises'
import { createServer, form, tool } from '@x/server'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const bookForm = form(z.object({ copies: z.number().int().positive() }))

const printBook = tool('print_book', {
  description: 'Prints a book',
  input: z.object({ chapters: z.number().int().max(100) }),
  task: 'allowed',
  async run({ chapters }, ctx) {
    for (let chapter = 1; chapter <= chapters; chapter += 1) {
      await ctx.step(`chapter/${chapter}`, () => setTimeout(2000, null))
      ctx.progress(chapter, chapters, `Chapter ${chapter} is printed`)
    }
    const { copies } = await ctx.elicit('copies', { message: 'How many copies?', schema: bookForm })
    return `Printed ${copies} copies`
  },
})

const server = createServer({
  name: 'printer',
  version: '1.0.0',
  tools: [printBook],
  extensions: [tasks({ store: 'pglite:./printer' })],
})
// Continues the tasks of the process before.
await server.ready()
const { url } = await serveHttp(server, { port: Number(process.env.PORT ?? 3000), stopOnSignals: true })
console.log(`Serving ${url}`)
