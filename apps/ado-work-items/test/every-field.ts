import { createServer, type McpServer, sealedState, tool, toolResult } from '@x/server'
import * as z from 'zod'

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August']

const question = z.object({
  name: z.string().min(2).max(20).meta({ title: 'Name' }),
  email: z.email().meta({ title: 'E-mail' }),
  page: z.url().optional().meta({ title: 'Page' }),
  day: z.iso.date().optional().meta({ title: 'Day' }),
  moment: z.iso.datetime().optional().meta({ title: 'Moment' }),
  share: z.number().min(0).max(1).default(0.25).meta({ title: 'Share' }),
  hours: z.int().min(1).optional().meta({ title: 'Hours' }),
  public: z.boolean().default(true).meta({ title: 'Public' }),
  color: z.enum(['red', 'green']).meta({ title: 'Color', enumNames: ['Red', 'Green'] }),
  month: z.enum(months).optional().meta({ title: 'Month' }),
  countries: z
    .array(z.union([z.literal('se').meta({ title: 'Sweden' }), z.literal('no').meta({ title: 'Norway' })]))
    .min(1)
    .meta({ title: 'Countries' }),
})

/** A server whose only question has a field of every kind; its result says what it was answered. */
export const everyField: McpServer = createServer({
  name: 'every-field',
  version: '1.0.0',
  state: sealedState({ keys: [crypto.getRandomValues(new Uint8Array(32))] }),
  tools: [
    tool('ask', {
      description: 'Asks for everything',
      run: async (_, ctx) => `got ${JSON.stringify(await ctx.elicit('all', { message: 'Well?', schema: question }))}`,
    }),
    tool('list_work_items', {
      description: 'Lists nothing',
      run: () => toolResult({ content: [], structuredContent: { workItems: [], more: false } }),
    }),
  ],
})
