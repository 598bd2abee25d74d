import { setTimeout as delay } from 'node:timers/promises'
import { errorCodes, McpError } from '@x/schema'
import { tool, toolResult } from '@x/server'
import * as z from 'zod'

// The schemas are outside the handlers, so that each is converted to a form once.
const named = z.object({ name: z.string().meta({ title: 'Name' }) })
const confirmed = z.object({ confirm: z.boolean().meta({ title: 'Confirm' }) })

/** Tools that run as tasks, and one that does not (seps/2663-tasks-extension). */
export const taskTools = [
  tool('greet', {
    description: 'Returns a greeting immediately',
    input: z.object({ name: z.string() }),
    run: ({ name }) => `Hello, ${name}!`,
  }),
  tool('slow_compute', {
    description: 'Computes for some seconds',
    input: z.object({ seconds: z.number(), label: z.string().optional() }),
    task: 'allowed',
    run: async ({ seconds, label = 'it' }, ctx) => {
      await delay(seconds * 1000, undefined, { signal: ctx.signal })
      return `Computed ${label} for ${seconds} seconds.`
    },
  }),
  tool('failing_job', {
    description: 'Fails with a tool error',
    task: 'required',
    run: () => toolResult({ isError: true, content: [{ type: 'text', text: 'The job has failed.' }] }),
  }),
  tool('protocol_error_job', {
    description: 'Fails with a protocol error',
    task: 'allowed',
    run: () => {
      throw new McpError(errorCodes.internal, 'The job failed without a result')
    },
  }),
  tool('confirm_delete', {
    description: 'Asks before it deletes',
    input: z.object({ filename: z.string() }),
    task: 'allowed',
    run: async ({ filename }, ctx) => {
      const { confirm } = await ctx.elicit('confirm', { message: `Delete ${filename}?`, schema: confirmed })
      return confirm ? `Deleted ${filename}.` : `Kept ${filename}.`
    },
  }),
  tool('multi_input', {
    description: 'Asks two questions at once',
    task: 'allowed',
    run: async (_, ctx) => {
      const [you, friend] = await Promise.all([
        ctx.elicit('you', { message: 'What is your name?', schema: named }),
        ctx.elicit('friend', { message: 'What is the name of your friend?', schema: named }),
      ])
      return `${you.name} likes ${friend.name}.`
    },
  }),
  tool('test_tool_with_task', {
    description: 'Asks a question, and then continues as a task',
    run: async (_, ctx) => {
      const { name } = await ctx.elicit('user_name', { message: 'What is your name?', schema: named })
      await ctx.continueAsTask()
      return `Hello, ${name}!`
    },
  }),
]
