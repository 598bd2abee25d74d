import { pageRedirect } from '@x/auth/client'
import { loopbackRedirect } from '@x/auth/node'
import { requireScopes } from '@x/auth/server'
import { type ClientOptions, createClient } from '@x/client'
import type { Connection, Server } from '@x/exchange'
import { gateway, type GatewayUpstreamOptions } from '@x/gateway'
import { createServer, prompt, resourceTemplate, type ServerDefinition, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessionResources, sessions } from '@x/sessions/server'
import { randomKey, sealedState, type StateStore, storedState } from '@x/state-codec'
import { tasksClient } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { connectHttp, type HttpConnectOptions } from '@x/transport-http/client'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { eachFailing, isFromFailure } from './failing-function.ts'

const info = { name: 'demo', version: '1.0.0' }
const state = sealedState({ keys: [randomKey()] })
const accept = (): { action: 'accept'; content: { name: string } } => ({ action: 'accept', content: { name: 'Ada' } })

const ask = tool('ask', {
  description: 'Asks for a name',
  run: (_args, ctx) =>
    ctx.elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) }).then(() => 'ok'),
})

const extensions = [sessionsClient(), tasksClient({ polling: { defaultMs: 5, minMs: 5 } })]
type HookClient = ReturnType<typeof connectHooks>
const connectHooks = (server: Server, options: Partial<ClientOptions>) =>
  createClient(server, { ...info, log: () => {}, maxResendMs: 0, elicit: accept, ...options, extensions })

const createDemoServer = (definition: Partial<ServerDefinition>) =>
  createServer({ ...info, log: () => {}, state, ...definition })

interface HookCase {
  readonly definition: Partial<ServerDefinition>
  readonly client?: Partial<ClientOptions>
  readonly use?: (client: HookClient) => Promise<unknown>
  /** True if the client must get its result although the function fails. */
  readonly succeeds?: boolean
}

const runTool = (definition: Omit<Parameters<typeof tool>[1], 'description'>): Partial<ServerDefinition> => ({
  tools: [tool('ask', { description: 'Calls a function that fails', ...definition })],
})
const storeOf = (fail: () => never): StateStore => ({ add: fail, get: fail, delete: fail, forOwner: fail })
const openSession = (client: HookClient) => client.sessions.create()

test.each(
  eachFailing<HookCase>({
    'run of a tool': (run) => ({ definition: runTool({ run }), succeeds: true }),
    'work of a step': (work) => ({ definition: runTool({ run: (_, ctx) => ctx.step('a', work) }), succeeds: true }),
    'isDone of a page': (isDone) => ({
      definition: runTool({
        run: async (_, ctx) => {
          await ctx.elicitUrl('page', { message: 'Open it', url: 'https://a.example/', isDone })
          return 'ok'
        },
      }),
      client: { openUrl: () => ({ action: 'accept' }) },
      succeeds: true,
    }),
    'run of a prompt': (run) => ({
      definition: { prompts: [prompt('p', { run })] },
      use: (client) => client.getPrompt('p'),
    }),
    'complete of a prompt': (complete) => ({
      definition: {
        prompts: [prompt('p', { input: z.object({ a: z.string() }), complete: { a: complete }, run: () => 'a' })],
      },
      use: (client) => client.complete({ type: 'ref/prompt', name: 'p' }, { name: 'a', value: 'x' }),
    }),
    'read of a template': (read) => ({
      definition: { resourceTemplates: [resourceTemplate('a://{b}', { name: 'a', read })] },
      use: (client) => client.readResource('a://c'),
    }),
    'list of a template': (list) => ({
      definition: { resourceTemplates: [resourceTemplate('a://{b}', { name: 'a', list, read: () => 'a' })] },
      use: (client) => client.listResources(),
    }),
    'a store of states': (fail) => ({ definition: { state: storedState({ store: storeOf(fail) }), tools: [ask] } }),
    'onCreate of sessions': (onCreate) => ({
      definition: { extensions: [sessions({ onCreate })] },
      use: openSession,
    }),
    'onDelete of sessions': (onDelete) => ({
      definition: { extensions: [sessions({ onDelete })] },
      use: async (client) => (await openSession(client)).delete(),
      succeeds: true,
    }),
    'the store of sessions': (fail) => ({
      definition: { extensions: [sessions({ store: storeOf(fail) })] },
      use: async (client) => (await openSession(client)).delete(),
    }),
    'dispatch of tasks': (dispatch) => ({
      definition: {
        ...runTool({ task: 'required', run: () => 'ok' }),
        extensions: [tasks({ store: memoryEngine(), runner: { dispatch } })],
      },
      // The task exists, and its due time is found later. So the call would wait.
      use: (client) => client.tasks.start('ask'),
      succeeds: true,
    }),
    'an engine of tasks': (create) => ({
      definition: {
        ...runTool({ task: 'required', run: () => 'ok' }),
        extensions: [tasks({ store: { ...memoryEngine(), create }, runWorker: false })],
      },
    }),
    'a function of requireScopes': (scopesOf) => ({
      definition: { tools: [ask], extensions: [requireScopes({ 'tools/call': scopesOf }, { stdio: 'trusted' })] },
    }),
    'publish of a bus': (publish) => ({
      definition: {
        ...runTool({ run: (_, ctx) => ctx.notifyListChanged('tools').then(() => 'ok') }),
        subscriptions: { bus: { publish, listen: async () => () => {} } },
      },
      succeeds: true,
    }),
  }),
)('if %s at a server, one request ends and one line is logged [ROB-003]', async (_, row) => {
  const log = vi.fn()
  const { definition, client: options = {}, use = ({ callTool }) => callTool('ask'), succeeds = false } = row
  const server = createServer({ ...info, log, state, ...definition })
  const client = connectHooks(server, options)
  const error: unknown = await use(client).then(
    () => undefined,
    (thrown: unknown) => thrown ?? 'no reason',
  )
  expect(error === undefined).toBe(succeeds)
  // What a middleware throws is logged by the transport. Here it arrives as it is.
  const errors = [error, ...log.mock.calls.map(([{ err }]) => err)]
  expect(errors.filter(isFromFailure)).toHaveLength(1)
  await server.close()
})

const never = new AbortController().signal
const remote = createDemoServer({ tools: [ask] })
const connection: Connection = {
  exchange: remote.exchange,
  closed: never,
  close: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
const upstreamOf = (own: Partial<GatewayUpstreamOptions>) =>
  gateway({
    ...info,
    state,
    log: () => {},
    upstreams: { crm: { connect: () => connection, ...own } },
  })

/** A client over HTTP whose options fail before anything is sent. */
const callOverHttp = (options: HttpConnectOptions) =>
  createClient(connectHttp('http://127.0.0.1:9/mcp', { retry: false, ...options }), {
    ...info,
    maxResendMs: 0,
  }).discover()

test.each(
  eachFailing<() => Promise<unknown>>({
    'headers of connectHttp': (headers) => () => callOverHttp({ headers }),
    'headers of an authorizer': (headers) => () => callOverHttp({ auth: { headers, onResponse: () => undefined } }),
    'onResponse of an authorizer': (onResponse) => () =>
      callOverHttp({
        auth: { headers: () => ({}), onResponse },
        fetch: async () => new Response(null, { status: 401 }),
      }),
    'fetch of connectHttp': (fetch) => () => callOverHttp({ fetch }),
    'open of sessionResources': (open) => () =>
      sessionResources({ open, close: () => {} }).of({ id: 'a', expiresAt: Date.now() + 1000 }),
    'showLoginUrl of loopbackRedirect': (showLoginUrl) => async () => {
      const listener = await loopbackRedirect({ open: () => {}, showLoginUrl }).open(never)
      try {
        await listener.visit(new URL('https://a.example/'), 'state')
      } finally {
        await listener.close()
      }
    },
    'assign of pageRedirect': (assign) => async () =>
      (await pageRedirect({ uri: 'http://localhost/a', assign }).open(never)).visit(new URL('https://a.example/'), 'a'),
    'compileSchema of a server': (compileSchema) => async () =>
      createDemoServer({
        compileSchema,
        tools: [tool('a', { description: 'a', input: { type: 'object' }, run: () => 'a' })],
      }),
  }),
)('if %s, its caller gets the error [ROB-003]', async (_, run) => {
  await expect(run()).rejects.toSatisfy(isFromFailure)
})

test.each(
  eachFailing<Partial<GatewayUpstreamOptions>>({
    credential: (credential) => ({ credential }),
    connect: (connect) => ({ connect }),
    'get of pins': (get) => ({ tools: { pins: { get, add: get } } }),
  }),
)('if %s of an upstream, its call fails and the gateway goes on [ROB-003]', async (_, own) => {
  await using server = upstreamOf(own)
  const client = createClient(server, { ...info, log: () => {}, maxResendMs: 0 })
  await expect(client.callTool('crm_ask')).rejects.toThrow()
  expect(await client.listTools()).toEqual(expect.any(Array))
})
