import { apps, appTool } from '@x/apps/server'
import type { ServerExtension } from '@x/exchange'
import { tool, ToolError } from '@x/server'
import { tasks } from '@x/tasks/server'
import * as z from 'zod'

export const keys = ['6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b']
export const info = { name: 'demo', version: '1.0.0' }
const named = z.object({ name: z.string() })

/** What the tools do beside their results. */
export const effects = { paid: 0, started: (): void => {} }
export const tools = [
  tool('greet', {
    description: 'Greets',
    input: named,
    output: z.object({ text: z.string() }),
    annotations: { readOnlyHint: true },
    run: ({ name }) => ({ text: `Hello, ${name}!` }),
  }),
  tool('fail', {
    description: 'Fails',
    run() {
      throw new ToolError('It failed')
    },
  }),
  tool('break', {
    description: 'Breaks',
    run() {
      throw new Error('secret')
    },
  }),
  tool('hidden', { description: 'Hidden', visibleTo: (who) => who?.subject === 'root', run: () => 'seen' }),
  tool('guarded', { description: 'Guarded', run: () => 'ran' }),
  tool('ask', {
    description: 'Asks',
    run: async (_, ctx) => `Hello, ${(await ctx.elicit('name', { message: 'Who?', schema: named })).name}!`,
  }),
  tool('visit', {
    description: 'Sends to a page',
    run: async (_, ctx) => {
      await ctx.elicitUrl('page', { message: 'Visit', url: 'https://example.com/' })
      return 'visited'
    },
  }),
  tool('ship', { description: 'Ships', task: 'required', run: () => 'shipped' }),
  tool('copy', {
    description: 'Copies',
    run: (_, ctx) => (ctx.progress(1, 2, 'half'), ctx.log('info', 'copied'), 'done'),
  }),
  tool('wait', {
    description: 'Waits',
    run: (_, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(new Error('late')))
        effects.started()
      }),
  }),
  tool('deploy', {
    description: 'Deploys',
    input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    run: ({ region }) => region,
  }),
  tool('pay', {
    description: 'Pays',
    keyedEffects: true,
    run: (_, ctx) => ctx.step('pay', () => `receipt ${(effects.paid += 1)}`),
  }),
  appTool('chart', { description: 'Shows a chart', page: { html: '<title>Chart</title>' }, run: () => 'drawn' }),
]

/** The extensions that the tools need. */
export const plain = (): ServerExtension[] => [tasks({ store: 'memory:' }), apps()]
