import { createClient } from '@x/client'
import { type Tool, tool } from '@x/server'
import { type ClientSession, sessions as clientSessions } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { type TaskCalls, taskCalls, tasksOf } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { createGate, type Gate } from '@tooling/vitest/gate'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { textOf, overEveryTransport, type Serve } from './over-every-transport.ts'

type Basket = { readonly items: readonly string[] }

const basketOf = () =>
  serverSessions({
    state: { schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } as Basket },
  })
type Baskets = ReturnType<typeof basketOf>

const add = (sessions: Baskets): Tool =>
  tool('add', {
    description: 'Puts something in',
    input: z.object({ item: z.string() }),
    run({ item }, ctx) {
      const session = sessions.of(ctx)
      session.setState({ items: [...session.state.items, item] })
      return session.state.items.join(' ')
    },
  })

/** Takes what it needs of the session before it becomes a task, and waits there for the gate. */
const order = (sessions: Baskets, gate: Gate): Tool =>
  tool('order', {
    description: 'Orders what is in the basket',
    run: async (_, ctx) => {
      const items = await ctx.step('items', () => [...sessions.of(ctx).state.items])
      await ctx.continueAsTask('required')
      await ctx.step('wait', () => gate.opened.then(() => 'waited'))
      return `${items.join(' ')} for ${sessions.find(ctx)?.state.items.length} things`
    },
  })

/** Needs its session in the task, as it was when the task was created. */
const late = (sessions: Baskets): Tool =>
  tool('late', { description: 'x', task: 'required', run: (_, ctx) => sessions.of(ctx).state.items.join(' ') })

/** Changes its session in the task, which has no answer to carry the change. */
const change = (sessions: Baskets): Tool =>
  tool('change', {
    description: 'x',
    task: 'required',
    run(_, ctx) {
      sessions.of(ctx).setState({ items: [] })
      return 'changed'
    },
  })

/** Gives the id of its session in the task. */
const named = (sessions: Baskets): Tool =>
  tool('name', { description: 'x', task: 'required', run: (_, ctx) => sessions.of(ctx).id })

/** Is there within sessions alone. */
const hidden = (sessions: Baskets): Tool =>
  tool('hidden', { description: 'x', task: 'required', visibleTo: sessions.isInSession, run: () => 'ran' })

interface Shop extends AsyncDisposable {
  readonly sessions: Baskets
  readonly gate: Gate
  /** Everything that was kept of tasks. */
  readonly payloads: string[]
  begin(): Promise<ClientSession & { readonly tasks: TaskCalls }>
}

/** A shop whose sessions and tasks go around the same server. */
async function openShop(serve: Serve, state?: StateCodec): Promise<Shop> {
  const [sessions, gate, payloads] = [basketOf(), createGate(), [] as string[]]
  const kept = memoryEngine()
  const engine: typeof kept = { ...kept, create: (task) => (payloads.push(JSON.stringify(task)), kept.create(task)) }
  const tools = [
    add(sessions),
    order(sessions, gate),
    late(sessions),
    change(sessions),
    named(sessions),
    hidden(sessions),
  ]
  const tasking = tasks({ store: engine, state, pollIntervalMs: 20 })
  const served = await serve({ tools, state: sealedState({ keys: [randomKey()] }), extensions: [tasking, sessions] })
  return {
    sessions,
    gate,
    payloads,
    begin: async () => {
      const following = taskCalls({ polling: { defaultMs: 20, minMs: 5 }, target: 'the shop', user: null })
      const extensions = [following, clientSessions()] as const
      const client = createClient(served.connect().exchange, { name: 'host', version: '1', extensions })
      const session = await client.sessions.create()
      return Object.assign(session, { tasks: tasksOf(session) })
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

overEveryTransport('a task that begins in a session', (serve) => {
  test('has the state that it read before, and the session as it was. Its token is not stored, and the session continues', async () => {
    await using shop = await openShop(serve)
    const session = await shop.begin()
    await session.callTool('add', { item: 'bread' })
    const started = await session.tasks.start('order')
    if (started.status !== 'task') throw new Error('the call was to become a task')
    expect(textOf(await session.callTool('add', { item: 'milk' }))).toBe('bread milk')
    shop.gate.open()
    expect(textOf(await started.task.result())).toBe('bread for 1 things')
    expect(shop.payloads).toHaveLength(1)
    expect(shop.payloads.join()).not.toContain(session.id)
    expect(shop.payloads.join()).not.toContain('io.modelcontextprotocol/session')
  })

  test('ends though its session was deleted meanwhile', async () => {
    await using shop = await openShop(serve)
    const [session, other] = [await shop.begin(), await shop.begin()]
    await session.callTool('add', { item: 'bread' })
    const started = await session.tasks.start('order')
    if (started.status !== 'task') throw new Error('the call was to become a task')
    const kept: unknown = JSON.parse(JSON.stringify(started.task.serialize()))
    await session.delete()
    shop.gate.open()
    expect(textOf(await other.tasks.resume(kept).result())).toBe('bread for 1 things')
  })

  test('has the state of its session at its creation, which it cannot change', async () => {
    await using shop = await openShop(serve)
    const session = await shop.begin()
    await session.callTool('add', { item: 'bread' })
    expect(textOf(await session.callTool('late'))).toBe('bread')
    expect(await session.callTool('change')).toMatchObject({ isError: true })
  })

  test('has the id of its session where the task keeps claims, sealed', async () => {
    await using shop = await openShop(serve, sealedState({ keys: [randomKey()] }))
    const session = await shop.begin()
    expect(textOf(await session.callTool('name'))).toBe(session.id)
    expect(shop.payloads.join()).not.toContain(session.id)
    await using plain = await openShop(serve)
    const other = await plain.begin()
    expect(await other.callTool('name')).toMatchObject({ isError: true })
  })

  test('runs a tool that is there within sessions alone', async () => {
    await using shop = await openShop(serve)
    const session = await shop.begin()
    expect(textOf(await session.callTool('hidden'))).toBe('ran')
  })
})
