import { createServer, form, type McpServer, prompt, resource, tool, ToolError } from '@x/server'
import { tasks } from '@x/tasks/server'
import { z } from 'zod'

const name = form(z.object({ name: z.string() }))

const greet = tool('greet', {
  description: 'Greets the person\nat the terminal',
  run: async (_, ctx) => `Hello, ${(await ctx.elicit('name', { message: 'Who are you?', schema: name })).name}!`,
})
const copy = tool('copy', {
  description: 'Copies files',
  input: z.object({ count: z.number() }),
  run: ({ count }, ctx) => {
    for (let done = 1; done <= count; done++) ctx.progress(done, count, `File ${done}`)
    return `${count} files`
  },
})
const paint = tool('paint', {
  description: 'Paints as a task',
  task: 'required',
  run: async (_, ctx) => `painted ${await ctx.step('paint', () => 'blue')}`,
})
const fail = tool('fail', {
  description: 'Fails',
  run: () => {
    throw new ToolError('The disk is full')
  },
})
const mixed = tool('mixed', {
  description: 'Returns every kind of content',
  run: () => ({
    content: [
      { type: 'text', text: 'red \u001B[31mtext' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'resource_link', uri: 'file:///a', name: 'a' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'embedded' } },
    ],
  }),
})

/** Has one of everything that a command shows. */
export function createOfferingServer(): McpServer {
  return createServer({
    name: 'offering',
    version: '1.2.3',
    instructions: 'Call greet first.',
    tools: [greet, copy, paint, fail, mixed],
    prompts: [prompt('review', { description: 'Reviews code', run: () => 'Review this' })],
    resources: [resource('test://page', { name: 'page', description: 'A page', read: () => 'text' })],
    extensions: [tasks({ store: 'memory:' })],
  })
}
