import { createServer, resourceTemplate, sealedState, type ServerDefinition, tool } from '@x/server'
import { sessionResources, sessions as sessionsExtension } from '@x/sessions/server'
import { memoryStore, randomKey, singleUseState, storedState } from '@x/state-codec'
import { type RequestView, serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import * as z from 'zod'
import { answerParent } from '../answer-parent.ts'
import { bombs } from './bomb-schemas.ts'
import { callerHeader, type Endpoints, quota, secret, storeSize } from './endpoints.ts'
import { createGuardedServer } from './guarded-server.ts'
import { createOlderServer } from './older-server.ts'
import { createQuotaServers } from './quota-servers.ts'

/** The milliseconds by which attacks have advanced the clock of servers, codecs and stores. */
let skippedMs = 0
const clock = { now: () => Date.now() + skippedMs }
const keys = [randomKey()]
const deleted: string[] = []

const sure = z.object({ sure: z.boolean() })
const echo = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string() }),
  run: ({ text }) => text,
})
const rows = Object.entries(bombs).map(([name, shape]) =>
  tool(name, { description: 'Takes rows', input: z.object({ rows: shape }), run: () => 'taken' }),
)
const remove = tool('remove', {
  description: 'Deletes everything after a confirmation by the user',
  input: z.looseObject({ folder: z.string().optional() }),
  run: async (_args, ctx) => {
    const answer = await ctx.elicit('sure', { message: 'Delete everything?', schema: sure })
    if (!answer.sure) return 'deleted nothing'
    deleted.push('everything')
    return 'deleted everything'
  },
})
const ask = tool('ask', {
  description: 'Asks for a form with each kind of field',
  run: async (_args, ctx) => {
    await ctx.elicit('form', {
      message: 'Who?',
      schema: z.object({ name: z.string(), age: z.int(), kind: z.enum(['a', 'b']) }),
    })
    return 'answered'
  },
})
const big = tool('big', {
  description: 'Returns a text of a given length',
  input: z.object({ length: z.int().max(10_000_000) }),
  run: ({ length }) => 'x'.repeat(length),
})
const wait = tool('wait', {
  description: 'Waits until the client cancels',
  run: (_args, ctx) =>
    new Promise<string>((resolve) => {
      ctx.signal.addEventListener('abort', () => resolve('cancelled'))
      ctx.progress(1, 2)
    }),
})
const flood = tool('flood', {
  description: 'Reports progress without end',
  run: async (_args, ctx) => {
    for (let step = 0; step < 20_000 && !ctx.signal.aborted; step += 1) {
      ctx.progress(step, 20_000, 'x'.repeat(1000))
      if (step % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    return 'done'
  },
})
const files = resourceTemplate('file:///{+path}', { name: 'files', read: ({ path }) => path.slice(0, 10) })
const folder = resourceTemplate('data:///folder/{+path}', { name: 'folder', read: ({ path }) => path })

const leak = tool('leak', {
  description: 'Fails with an error that contains a secret',
  run: () => {
    throw new Error(`cannot connect to postgres://admin:${secret}@db`)
  },
})

const silent = { log: () => {} }
const definition = { tools: [echo, remove, ask, big, wait, flood, leak, ...rows], resourceTemplates: [files, folder] }
const shop = serverOf('shop', { ...definition, state: sealedState({ keys, runtime: clock }) })
const neighbor = serverOf('neighbor', { ...definition, state: sealedState({ keys, runtime: clock }) })

/** Each state can be used once. One caller may use a tenth of the store. */
const usesStore = memoryStore({ maxEntries: storeSize * 10, runtime: clock })
const once = serverOf('once', {
  ...definition,
  state: singleUseState(sealedState({ keys, ttlMs: 60_000, runtime: clock }), usesStore),
})

const account = z.object({ plan: z.string(), credit: z.number(), locked: z.boolean() })
const trial = { plan: 'trial', credit: 1, locked: true }
const accounts = sessionsExtension({
  state: { schema: account, initial: { plan: 'full', credit: 100, locked: false } },
  onCreate: () => trial,
})
const showAccount = tool('account', {
  description: 'Shows the account',
  run: (_args, ctx) => JSON.stringify(accounts.of(ctx).state),
})
/** One caller may open a tenth of the resources. */
const editors = sessionResources({ open: () => ({}), close: () => {}, maxOpenResources: 10 * quota })
const openEditor = tool('open', {
  description: 'Opens an editor for the session',
  run: async (_args, ctx) => {
    await editors.of(accounts.of(ctx))
    return 'opened'
  },
})
const inSessions = serverOf('sessions', {
  tools: [echo, showAccount, openEditor],
  state: sealedState({ keys, runtime: clock }),
  extensions: [accounts],
})

const counts = sessionsExtension({
  state: {
    schema: z.object({ count: z.number() }),
    initial: { count: 0 },
    codec: storedState({ store: memoryStore({ maxEntries: storeSize * 10, runtime: clock }), runtime: clock }),
  },
})
const count = tool('count', {
  description: 'Counts its calls in the session',
  run: (_args, ctx) => {
    const session = counts.of(ctx)
    session.setState({ count: session.state.count + 1 })
    return String(session.state.count)
  },
})
const inStore = serverOf('stored', {
  tools: [echo, count],
  state: sealedState({ keys, runtime: clock }),
  extensions: [counts],
})

const { server: guarded, auth, sign } = await createGuardedServer(silent)
const { server: older, counts: olderCounts } = createOlderServer(silent)
const servers = {
  shop,
  neighbor,
  once,
  sessions: inSessions,
  stored: inStore,
  ...createQuotaServers(silent, clock),
  guarded,
  older,
}
const clientAddress = ({ header }: RequestView): string | undefined => header(callerHeader)
const urls = Object.fromEntries(
  await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      const options = { clientAddress, ...(server === guarded && { auth }) }
      return [name, (await serveHttp(server, options)).url]
    }),
  ),
)

serveStdio(shop, { exit: false })
answerParent({
  // `servers` has one entry for each endpoint.
  endpoints: (): Endpoints => urls as unknown as Endpoints,
  skip: ({ ms }: { readonly ms: number }) => (skippedMs += ms),
  running: () => shop.load.running,
  deleted: () => deleted.length,
  closeEditors: () => editors.close(),
  olderCounts,
  sign: ({ jkt }: { readonly jkt: string }) => sign(jkt),
})

function serverOf(name: string, rest: Partial<ServerDefinition>): ReturnType<typeof createServer> {
  return createServer({ name, version: '1.0.0', runtime: { now: clock.now }, ...silent, ...rest })
}
