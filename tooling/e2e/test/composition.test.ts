import { createClient } from '@x/client'
import { type Call, type Middleware, type ServerExtension, serverOf } from '@x/exchange'
import { createServer, sealedState, tool } from '@x/server'
import { type ClientSession, sessionsClient } from '@x/sessions/client'
import { sessions } from '@x/sessions/server'
import { randomKey } from '@x/state-codec'
import { tasksClient, tasksOf } from '@x/tasks/client'
import { tasks } from '@x/tasks/server'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { memoryEngine, overEveryTransport, textOf } from './over-every-transport.ts'

/** Creates an extension that counts tool calls and offers the count to servers and clients. */
function counting() {
  const seen: string[] = []
  const read = (_: unknown, _call: Call) => ({ count: seen.length })
  const middleware: Middleware = (next) => (request, call) => {
    if (request.method === 'tools/call') seen.push(String(request.params?.['name']))
    return next(request, call)
  }
  const extension = {
    extends: 'server',
    name: 'counting',
    identifier: 'com.example/counting',
    capabilities: {},
    middleware,
    start: () => ({ api: { count: () => seen.length }, methods: { 'com.example/count': read } }),
  } as const satisfies ServerExtension<'counting', { count(): number }>
  return { seen, extension }
}

/** Returns all permutations of a list. */
function permutations<T>(list: readonly T[]): readonly (readonly T[])[] {
  if (list.length < 2) return [list]
  return list.flatMap((first, at) => permutations(list.toSpliced(at, 1)).map((rest) => [first, ...rest]))
}

function openParts() {
  const basket = sessions()
  const work = tool('work', {
    description: 'Runs as a task if the client supports tasks',
    task: 'allowed',
    run: (_, ctx) => `worked ${basket.find(ctx) === undefined ? 'alone' : 'in a session'}`,
  })
  const who = tool('who', {
    description: 'Reports whether the call is in a session',
    run: (_, ctx) => (basket.find(ctx) === undefined ? 'alone' : 'in a session'),
  })
  const { seen, extension } = counting()
  const taskExtension = tasks({ store: memoryEngine(), pollIntervalMs: 20 })
  return {
    seen,
    definition: { tools: [work, who], state: sealedState({ keys: [randomKey()] }) },
    list: [taskExtension, basket, extension],
  }
}

const orders = permutations([0, 1, 2])

overEveryTransport('tasks, sessions and a third extension', (serve) => {
  test.each(orders.map((order) => [order.join(' '), order] as const))(
    'behave equally in the order %s',
    async (_, order) => {
      const { seen, definition, list } = openParts()
      const extensions = order.flatMap((at) => list[at] ?? [])
      await using served = await serve({ ...definition, extensions })
      const { exchange } = served.connect()
      const clients = [tasksClient({ polling: { defaultMs: 20, minMs: 5 } }), sessionsClient()]
      const client = createClient(exchange, { name: 'host', version: '1.0.0', extensions: [...clients] })
      const { capabilities } = await client.discover()
      expect(Object.keys(capabilities.extensions ?? {}).toSorted()).toEqual([
        'com.example/counting',
        'io.modelcontextprotocol/tasks',
      ])
      expect(capabilities).toHaveProperty('sessions')

      expect(textOf(await client.callTool('who'))).toBe('alone')
      const session = await sessionOf(client)
      expect(textOf(await session.callTool('who'))).toBe('in a session')
      const started = await tasksOf(session).start('work')
      if (started.status !== 'task') throw new Error('the call is not a task')
      expect(textOf(await started.task.result())).toBe('worked in a session')
      expect(textOf(await client.callTool('work'))).toBe('worked alone')
      await session.delete()

      expect((await client.request('com.example/count', {}))['count']).toBe(seen.length)
      // Each task is counted twice: when it is created and when it runs.
      expect(seen.toSorted()).toEqual(['who', 'who', 'work', 'work', 'work', 'work'])
    },
  )
})

async function sessionOf(client: object): Promise<ClientSession> {
  const { sessions: calls } = client as { readonly sessions: { create(): Promise<ClientSession> } }
  return calls.create()
}

const info = { name: 'e2e-server', version: '1.0.0' }
const publicly = { host: '0.0.0.0', allowedHosts: ['mcp.example.com'] }

test('a server of an exchange requires localOnly and rejects a public address with it', async () => {
  const { exchange } = createServer(info)
  const localOnly = 'its files are on this machine'
  await expect(serveHttp(serverOf(exchange, { info, localOnly }), publicly)).rejects.toThrow(TypeError)
  // @ts-expect-error Both members are required.
  serverOf(exchange, { info })
})

test('a transport rejects an exchange, and a side rejects extensions of the other side', () => {
  const server = createServer({ ...info, state: false })
  // @ts-expect-error A transport accepts only servers.
  const wrapped: Parameters<typeof serveHttp>[0] = server.exchange
  expect(wrapped).toBe(server.exchange)
  // @ts-expect-error A client extension in the list of a server.
  expect(() => createServer({ ...info, extensions: [tasksClient()] })).toThrow('not a server extension')
  // @ts-expect-error A server extension in the list of a client.
  expect(() => createClient(server, { ...info, extensions: [tasks()] })).toThrow('not a client extension')
  // @ts-expect-error The factory instead of its result.
  expect(() => createServer({ ...info, extensions: [tasks] })).toThrow('not a server extension')
  expect(() => createServer({ ...info, extensions: [tasks(), tasks()] })).toThrow('two extensions of this name')
})

test('the last HTTP server that stops closes the server and its extensions', async () => {
  const ended: string[] = []
  const engine = { ...memoryEngine(), close: async () => void ended.push('engine') }
  const last: ServerExtension = {
    extends: 'server',
    name: 'last',
    identifier: 'com.example/last',
    start: () => ({ close: async () => void ended.push('last') }),
  }
  const state = sealedState({ keys: [randomKey()] })
  const hello = tool('hello', { description: 'x', run: () => 'Hello' })
  const server = createServer({ ...info, state, tools: [hello], extensions: [tasks({ store: engine }), last] })
  const [one, two] = [await serveHttp(server), await serveHttp(server)]
  await createClient(connectHttp(one.url), info).callTool('hello')
  await one.close()
  expect(ended).toEqual([])
  await two.close()
  expect(ended.toSorted()).toEqual(['engine', 'last'])
})
