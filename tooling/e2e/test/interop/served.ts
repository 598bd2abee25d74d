import { legacy } from '@x/legacy'
import { createServer, type McpServer, prompt, resource, resourceTemplate, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { withErrorTexts } from './error-texts.ts'

const hotels: Record<string, string[]> = { Oslo: ['Amerikalinjen', 'The Thief'], Bergen: ['Opus'] }

/** Creates the server of one session. */
function getServer(): McpServer {
  const book = tool('book', {
    description: 'Books a trip',
    input: z.object({ city: z.string() }),
    run: async ({ city }, ctx) => {
      const requestedSchema = { type: 'object' as const, properties: { nights: { type: 'integer' as const } } }
      const answer = await ctx.elicitResult('nights', { message: 'How many nights?', schema: requestedSchema })
      if (answer.action !== 'accept') return { isError: true, content: [{ type: 'text', text: 'Not booked' }] }
      return { content: [{ type: 'text', text: `${String(answer.content?.['nights'])} nights in ${city}` }] }
    },
  })
  const search = tool('search', {
    title: 'Search',
    description: 'Searches hotels',
    input: z.object({ city: z.string() }),
    run: withErrorTexts(async ({ city }, ctx) => {
      if (!Object.hasOwn(hotels, city)) throw new Error(`No hotels in ${city}`)
      const progressToken = ctx.meta.progressToken
      if (progressToken !== undefined) {
        ctx.progress(1, 2)
      }
      ctx.log('info', `Searches ${city}`)
      return { content: [{ type: 'text', text: (hotels[city] ?? []).join(', ') }] }
    }),
  })
  const plan = prompt('plan', {
    description: 'Plans a trip',
    input: z.object({ city: z.string() }),
    run: ({ city }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Plan a trip to ${city}` } }],
    }),
  })
  const cities = resource('travel://cities', {
    name: 'cities',
    mimeType: 'text/plain',
    read: () => ({
      contents: [{ text: Object.keys(hotels).join('\n') }],
    }),
  })
  const hotelsTemplate = resourceTemplate('travel://hotels/{city}', {
    name: 'hotels',
    read: ({ city }) => ({
      contents: [{ text: (hotels[String(city)] ?? []).join('\n') }],
    }),
  })
  const server = createServer({
    name: 'travel',
    version: '1.0.0',
    tools: [book, search],
    prompts: [plan],
    resources: [cities],
    resourceTemplates: [hotelsTemplate],
    extensions: [legacy()],
  })
  return server
}

const port = Number(process.env['PORT'] ?? 3000)
serveHttp(getServer(), { port }).then(() => console.log('Ready'))
