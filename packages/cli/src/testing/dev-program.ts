import { appendFileSync } from 'node:fs'
import { apps, appTool } from '@x/apps/server'
import { legacy } from '@x/legacy'
import { createServer, form, prompt, resourceTemplate, randomKey, sealedState, tool } from '@x/server'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import { z } from 'zod'

/** A test replaces this text in the built program, as an author changes the source. */
const edition = 'edition 1'

const act = (name: string): void => appendFileSync(process.env['EFFECTS'] ?? '/dev/null', `${name}\n`)

const how = form(z.object({ how: z.string() }))
const acts = { input: z.object({ id: z.number() }) }

const weather = appTool('weather', {
  description: 'Shows the weather',
  input: z.object({ city: z.string() }),
  page: {
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Weather</title><p id="text">waits</p><button>Again</button>
<script type="module">
const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
const show = (text) => { document.querySelector('#text').textContent = text }
addEventListener('message', ({ data }) => {
  if (data.id === 1) send({ method: 'ui/notifications/initialized', params: {} })
  if (data.method === 'ui/notifications/tool-result') show(data.params.content[0].text)
  if (data.id === 2) show('again: ' + data.result.content[0].text)
})
document.querySelector('button').onclick = () =>
  send({ id: 2, method: 'tools/call', params: { name: 'weather', arguments: { city: 'Rome' } } })
const appInfo = { name: 'weather', version: '1.0.0' }
send({ id: 1, method: 'ui/initialize', params: { appInfo, appCapabilities: {}, protocolVersion: '2026-01-26' } })
</script>`,
  },
  run: ({ city }) => `Sun in ${city}`,
})

export const server = createServer({
  name: 'shop',
  version: '1.0.0',
  extensions: [legacy(), tasks(), apps()],
  // A test imports this module without a key.
  state: sealedState({ keys: process.env['STATE_KEYS']?.split(',') ?? [randomKey()] }),
  tools: [
    tool('resolve', {
      ...acts,
      description: 'Resolves an item after a question',
      run: async ({ id }, ctx) => {
        const answer = await ctx.elicit('how', { message: `How was item ${id} resolved?`, schema: how })
        act('resolve')
        return `#${id} is ${answer.how} in ${edition}`
      },
    }),
    tool('pay', {
      ...acts,
      description: 'Pays',
      run: ({ id }) => {
        act('pay')
        return `paid ${id}`
      },
    }),
    tool('put', {
      ...acts,
      description: 'Sets a value',
      annotations: { idempotentHint: true },
      run: ({ id }, ctx) => {
        act('put')
        ctx.progress(1, 1, 'set')
        return `put ${id} in ${process.pid}`
      },
    }),
    tool('think', {
      description: 'Asks a model',
      run: async (_, ctx) => {
        const question = { role: 'user', content: { type: 'text', text: 'What is next?' } } as const
        const { content } = await ctx.sample('next', { messages: [question], maxTokens: 10 })
        return JSON.stringify(content)
      },
    }),
    tool('build', { description: 'Builds as a task', task: 'required', run: () => 'built' }),
    weather,
    tool('crash', { description: 'Ends the process', run: () => process.exit(3) }),
  ],
  prompts: [
    prompt('review', {
      description: 'Reviews a program',
      input: z.object({ language: z.string() }),
      complete: { language: (typed) => ['go', 'rust'].filter((one) => one.startsWith(typed)) },
      run: ({ language }) => `Review this ${language} program.`,
    }),
  ],
  resourceTemplates: [
    resourceTemplate('item://{id}', {
      name: 'item',
      complete: { id: () => ['17', '18'] },
      read: ({ id }) => `Item ${id}`,
    }),
  ],
})

if (process.argv.includes('http')) {
  const http = await serveHttp(server, { stopOnSignals: true })
  process.stdout.write(`listening at ${http.url}\n`)
} else if (process.argv.includes('stdio')) serveStdio(server)
