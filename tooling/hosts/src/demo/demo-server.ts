// The server that the hosts call, over stdio or, if PORT is set, over HTTP.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { protect } from '@x/auth/server'
import { legacy } from '@x/legacy'
import { createServer, prompt, resource, sealedState, tool, ToolError } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { postgresStore } from '@x/state-codec/postgres'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import * as z from 'zod'
import { dot, environment, manyTools, texts } from './texts.ts'

const { port, database, issuer, resourceUrl, events, key, many, searches } = environment(process.env)
const name = z.object({ name: z.string() })

const greet = tool('greet', { description: 'Greets', input: name, run: (args) => texts.greeting(args.name) })
const weather = tool('weather', {
  description: 'Weather of a place',
  annotations: { readOnlyHint: true },
  output: z.object({ celsius: z.number() }),
  run: () => ({ celsius: texts.celsius }),
})
const picture = tool('picture', {
  description: 'A picture, and a link',
  run: () => ({
    content: [
      { type: 'image', data: dot, mimeType: 'image/png' },
      { type: 'resource_link', uri: texts.uri, name: 'Changelog' },
    ],
  }),
})
const copy = tool('copy', {
  description: 'Copies three files',
  async run(_, ctx) {
    for (const file of [1, 2, 3]) {
      ctx.progress(file, 3, texts.progress(file))
      await delay(texts.progressMs, undefined, { signal: ctx.signal })
    }
    return texts.copied
  },
})
const ask = tool('ask', {
  description: 'Asks for a name',
  async run(_, ctx) {
    const answer = await ctx.elicit('name', { message: texts.question, schema: name })
    return texts.greeting(answer.name)
  },
})
const book = tool('book', {
  description: 'Asks for a name and a city',
  async run(_, ctx) {
    const first = await ctx.elicit('name', { message: texts.question, schema: name })
    const length = await ctx.step('length', () => first.name.length)
    const city = z.object({ city: z.string() })
    const second = await ctx.elicit('city', { message: texts.secondQuestion, schema: city })
    return texts.booked(first.name, length, second.city)
  },
})
const signIn = tool('sign_in', {
  description: 'Sends the user to a page',
  async run(_, ctx) {
    await ctx.elicitUrl('page', { message: texts.page, url: texts.pageUrl })
    return texts.signedIn
  },
})
const fail = tool('fail', {
  description: 'Fails',
  run() {
    throw new ToolError(texts.failure)
  },
})
const wait = tool('wait', {
  description: 'Waits a minute',
  async run(_, ctx) {
    appendFileSync(events, 'started\n')
    ctx.signal.addEventListener('abort', () => appendFileSync(events, 'cancelled\n'))
    await delay(60_000, undefined, { signal: ctx.signal })
    return 'waited'
  },
})
const ship = tool('ship', { description: 'Ships', task: 'allowed', run: () => texts.shipped })
const shape = tool('shape', {
  description: 'The area of a shape',
  input: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('square'), side: z.number() }),
    z.object({ kind: z.literal('rectangle'), width: z.number(), height: z.number() }),
  ]),
  run: (it) => texts.area(it.kind === 'square' ? it.side ** 2 : it.width * it.height),
})
const grown = tool('grown', {
  description: 'Comes later',
  // Every instance reads the same file.
  visibleTo: () => existsSync(events) && readFileSync(events, 'utf8').includes('grown'),
  run: () => texts.grown,
})
const grow = tool('grow', {
  description: 'Adds the tool "grown"',
  async run(_, ctx) {
    appendFileSync(events, 'grown\n')
    await ctx.notifyListChanged('tools')
    return 'Added'
  },
})
const extra = manyTools(many).map((title) => tool(title, { description: title, run: () => title }))
const tools = [greet, weather, picture, copy, ask, book, signIn, fail, wait, ship, shape, grow, grown, ...extra]

const { toolSearch } = await import('@x/server/tool-search')

const server = createServer({
  name: 'demo',
  version: '1.0.0',
  tools,
  prompts: [
    prompt('critique', {
      description: 'Asks for a review',
      input: z.object({ language: z.string() }),
      run: ({ language }) => texts.review(language),
    }),
  ],
  resources: [resource(texts.uri, { name: 'Changelog', mimeType: 'text/plain', read: () => texts.changelog })],
  state: sealedState({ keys: [key] }),
  // The model of a host is asked for this tool until it has it.
  ...(searches && { toolSearch: toolSearch({ always: ['greet'], directFor: [] }) }),
  ...(database && { subscriptions: { bus: postgresBus(database) } }),
  extensions: [
    tasks({ store: database ?? 'memory:' }),
    legacy({ ...(database && { store: postgresStore(database) }) }),
  ],
})

if (port === undefined) serveStdio(server)
else {
  const auth =
    issuer && resourceUrl ? protect({ resource: resourceUrl, issuers: [issuer], scopes: ['demo:use'] }) : undefined
  await serveHttp(server, { port, ...(auth && { auth }) })
  console.log('ready')
}
