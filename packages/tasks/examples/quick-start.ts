import { createClient } from '@x/client'
import { createServer, form, tool } from '@x/server'
import { tasksClient } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'

const confirmation = form(z.object({ sure: z.boolean() }))

const publish = tool('publish', {
  description: 'Publishes every page of the site',
  task: 'allowed',
  async run(_, ctx) {
    const pages = await ctx.step('pages', () => ['home', 'about', 'contact'])
    const { sure } = await ctx.elicit('sure', {
      message: `Publish ${pages.length} pages?`,
      schema: confirmation,
    })
    if (!sure) return 'Nothing was published.'
    for (const [done, page] of pages.entries()) {
      await ctx.step(`publish/${page}`, () => console.log(`publishing ${page}`))
      ctx.progress(done + 1, pages.length, `${page} is published`)
    }
    return `Published ${pages.length} pages.`
  },
})

// 'pglite:./.mcp-tasks' keeps the tasks after a crash. 'postgres://…' and 'redis://…' are for several instances.
const server = createServer({
  name: 'site',
  version: '1.0.0',
  tools: [publish],
  extensions: [tasks({ store: 'memory:' })],
})

const client = createClient(server, {
  name: 'host',
  version: '1.0.0',
  elicit: () => ({ action: 'accept', content: { sure: true } }),
  extensions: [tasksClient()],
})
const { content } = await client.callTool('publish')
console.log(content)
await server.close()
