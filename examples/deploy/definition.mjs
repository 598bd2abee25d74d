import { legacy } from '@x/legacy'
import { createServer, form, tool } from '@x/server'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Asks for a name, and greets',
  async run(_, ctx) {
    const { name } = await ctx.elicit('name', {
      message: 'What is your name?',
      schema: form(z.object({ name: z.string() })),
    })
    return `Hello, ${name}!`
  },
})

const report = tool('report', {
  description: 'Writes a report in several steps',
  input: z.object({ pages: z.number().int().min(1).max(1000) }),
  task: 'allowed',
  async run({ pages }, ctx) {
    for (let page = 1; page <= pages; page += 1) {
      // The result of a step is recorded, so no page is written twice, at any instance.
      await ctx.step(`page-${page}`, () => writePage(page))
      ctx.progress(page, pages)
    }
    return `${pages} pages`
  },
})

function writePage(page) {
  return new Promise((resolve) => setTimeout(() => resolve(page), 100))
}

/** Creates the server. Every instance of the fleet has the same tools, keys and database. */
export function createInstance({ state, database }, options = {}) {
  const shared = database === undefined ? { extensions: [legacy()] } : shareThrough(database, options)
  return createServer({ name: 'example', version: '1.0.0', state, tools: [greet, report], ...shared, ...options })
}

/** Tasks, changes and the questions of older clients reach every instance through the database. */
function shareThrough({ engine, store, bus, close }, { subscriptions }) {
  const withTasks = tasks({ store: engine })
  // Without a bus, the answer of an older client has to reach the instance that asked.
  if (subscriptions === false) return { extensions: [legacy(), withTasks], close }
  return { subscriptions: { bus }, extensions: [legacy({ store }), withTasks], close }
}
