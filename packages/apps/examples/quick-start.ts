import { pageFile } from '@x/apps/node'
import { apps, appTool, showsPages } from '@x/apps/server'
import { createServer, toolResult } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

const weather = appTool('weather', {
  description: 'Shows the weather of a city',
  input: z.object({ city: z.string() }),
  output: z.object({ celsius: z.number() }),
  page: { html: pageFile(new URL('weather.html', import.meta.url)) },
  run({ city }, ctx) {
    const structuredContent = { celsius: 21 }
    const text = showsPages(ctx) ? `The page shows the weather of ${city}.` : `${city}: 21 °C, sunny until the evening.`
    return toolResult({ structuredContent, content: [{ type: 'text', text }] })
  },
})

const server = createServer({ name: 'weather', version: '1.0.0', tools: [weather], extensions: [apps()] })
export const http = await serveHttp(server, { port: Number(process.env['PORT'] ?? 3000) })
console.log(`Listening at ${http.url}`)
