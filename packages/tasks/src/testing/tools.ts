import { errorCodes, McpError } from '@x/schema'
import { tool, ToolError, toolResult } from '@x/server'
import { z } from 'zod'

const nameSchema = z.object({ name: z.string() })
const createNameQuestion = (key: string) => ({ message: `What is the ${key}?`, schema: nameSchema })

/** One tool for each possible course of a task. */
export const tools = [
  tool('tell', {
    description: 'Reports its progress',
    task: 'allowed',
    run: async (_, ctx) => {
      ctx.progress(1, 2, 'Half')
      ctx.log('error', 'for nobody')
      return ctx.step('one', () => 'told')
    },
  }),
  tool('work', {
    description: 'Works',
    task: 'allowed',
    run: (_, ctx) =>
      new Promise<string>((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('x')))),
  }),
  tool('greet', { description: 'Greets', task: 'allowed', run: () => 'Hello!' }),
  tool('fail', {
    description: 'Fails',
    task: 'allowed',
    run: () => toolResult({ isError: true, content: [{ type: 'text', text: 'Sold out' }] }),
  }),
  tool('throw', {
    description: 'Throws',
    task: 'allowed',
    run: () => {
      throw new ToolError('Sold out')
    },
  }),
  tool('break', {
    description: 'Breaks',
    task: 'allowed',
    run: () => {
      throw new McpError(errorCodes.internal, 'API rate limit exceeded', { data: { after: 3 } })
    },
  }),
  tool('ask', {
    description: 'Asks',
    task: 'allowed',
    run: async (_, ctx) => {
      const [one, two] = await Promise.all([
        ctx.elicit('one', createNameQuestion('one')),
        ctx.elicit('two', createNameQuestion('two')),
      ])
      return `${one.name} and ${two.name}`
    },
  }),
]
