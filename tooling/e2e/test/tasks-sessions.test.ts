import { createClient } from '@x/client'
import { createServer, type Tool, tool } from '@x/server'
import { type ClientSession, sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { type TasksClient, tasksClient, tasksOf } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { createGate, type Gate } from '@tooling/vitest/gate'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { textOf } from './asking.ts'

type Basket = { readonly items: readonly string[] }

const basketOf = () =>
  serverSessions({
    state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } as Basket },
  })
type Baskets = ReturnType<typeof basketOf>

const add = (sessions: Baskets): Tool =>
  tool('add', {
    description: 'Adds an item',
    input: z.object({ item: z.string() }),
    run({ item }, ctx) {
      const session = sessions.of(ctx)
      session.setState({ items: [...session.state.items, item] })
      return session.state.items.join(' ')
    },
  })

/** Reads the session before it becomes a task, and then waits for the gate. */
const order = (sessions: Baskets, gate: Gate): Tool =>
  tool('order', {
    description: 'Orders the items of the session',
    run: async (_, ctx) => {
      const items = await ctx.step('items', () => [...sessions.of(ctx).state.items])
      await ctx.continueAsTask('required')
      await ctx.step('wait', () => gate.opened.then(() => 'waited'))
      return `${items.join(' ')} for ${sessions.find(ctx)?.state.items.length} things`
    },
  })

/** Reads the state that the session had when the task was created. */
const late = (sessions: Baskets): Tool =>
  tool('late', { description: 'x', task: 'required', run: (_, ctx) => sessions.of(ctx).state.items.join(' ') })

/** Tries to change the session in a task. A task has no response to carry the change. */
const change = (sessions: Baskets): Tool =>
  tool('change', {
    description: 'x',
    task: 'required',
    run(_, ctx) {
      sessions.of(ctx).setState({ items: [] })
      return 'changed'
    },
  })

/** Returns the id of its session in the task. */
const named = (sessions: Baskets): Tool =>
  tool('name', { description: 'x', task: 'required', run: (_, ctx) => sessions.of(ctx).id })

/** Is visible only in sessions. */
const hidden = (sessions: Baskets): Tool =>
  tool('hidden', { description: 'x', task: 'required', visibleTo: sessions.isInSession, run: () => 'ran' })

interface Shop extends AsyncDisposable {
  readonly sessions: Baskets
  readonly gate: Gate
  /** All tasks that the engine stored, as JSON. */
  readonly payloads: string[]
  begin(): Promise<ClientSession & { readonly tasks: TasksClient }>
}

/** Starts a server with sessions and tasks. */
function openShop(state?: StateCodec): Shop {
  const [sessions, gate, payloads] = [basketOf(), createGate(), [] as string[]]
  const memory = memoryEngine()
  const engine: typeof memory = {
    ...memory,
    create: (task) => (payloads.push(JSON.stringify(task)), memory.create(task)),
  }
  const tools = [
    add(sessions),
    order(sessions, gate),
    late(sessions),
    change(sessions),
    named(sessions),
    hidden(sessions),
  ]
  const taskExtension = tasks({ store: engine, state, pollIntervalMs: 20 })
  const server = createServer({
    name: 'shop',
    version: '1',
    tools,
    state: sealedState({ keys: [randomKey()] }),
    extensions: [taskExtension, sessions],
  })
  return {
    sessions,
    gate,
    payloads,
    begin: async () => {
      const taskClient = tasksClient({ polling: { defaultMs: 20, minMs: 5 }, target: 'the shop', user: null })
      const extensions = [taskClient, sessionsClient()] as const
      const client = createClient(server, { name: 'host', version: '1', extensions })
      const session = await client.sessions.create()
      return Object.assign(session, { tasks: tasksOf(session) })
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

describe('a task that starts in a session', () => {
  test('has the state that the call read and the session at its creation. The session token is not stored, and the session continues', async () => {
    await using shop = openShop()
    const session = await shop.begin()
    await session.callTool('add', { item: 'bread' })
    const started = await session.tasks.start('order')
    if (started.status !== 'task') throw new Error('the call is not a task')
    expect(textOf(await session.callTool('add', { item: 'milk' }))).toBe('bread milk')
    shop.gate.open()
    expect(textOf(await started.task.result())).toBe('bread for 1 things')
    expect(shop.payloads).toHaveLength(1)
    expect(shop.payloads.join()).not.toContain(session.id)
    expect(shop.payloads.join()).not.toContain('io.modelcontextprotocol/session')
  })

  test('ends even if its session was deleted in the meantime', async () => {
    await using shop = openShop()
    const [session, other] = [await shop.begin(), await shop.begin()]
    await session.callTool('add', { item: 'bread' })
    const started = await session.tasks.start('order')
    if (started.status !== 'task') throw new Error('the call is not a task')
    const serialized: unknown = JSON.parse(JSON.stringify(started.task.serialize()))
    await session.delete()
    shop.gate.open()
    expect(textOf(await other.tasks.resume(serialized).result())).toBe('bread for 1 things')
  })

  test('has the state of its session at its creation and cannot change it', async () => {
    await using shop = openShop()
    const session = await shop.begin()
    await session.callTool('add', { item: 'bread' })
    expect(textOf(await session.callTool('late'))).toBe('bread')
    expect(await session.callTool('change')).toMatchObject({ isError: true })
  })

  test.each([
    ['a codec of the tasks', sealedState({ keys: [randomKey()] })],
    ['the codec of the server', undefined],
  ])('has the id of its session, sealed by %s', async (_, state) => {
    await using shop = openShop(state)
    const session = await shop.begin()
    expect(textOf(await session.callTool('name'))).toBe(session.id)
    expect(shop.payloads.join()).not.toContain(session.id)
  })

  test('runs a tool that is visible only in sessions', async () => {
    await using shop = openShop()
    const session = await shop.begin()
    expect(textOf(await session.callTool('hidden'))).toBe('ran')
  })
})
