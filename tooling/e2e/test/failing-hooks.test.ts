import { requireScopes } from '@x/auth/server'
import { type ClientOptions, createClient } from '@x/client'
import { createServer, prompt, resourceTemplate, type ServerDefinition, tool } from '@x/server'
import { sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import { randomKey, sealedState, type StateStore, storedState } from '@x/state-codec'
import { tasksClient } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
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
const connectHooks = (server: ReturnType<typeof createServer>, options: Partial<ClientOptions>) =>
  createClient(server, { ...info, log: () => {}, maxResendMs: 0, elicit: accept, ...options, extensions })

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
