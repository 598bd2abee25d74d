import { type Client, createClient, type InputHandlers } from '@x/client'
import { errorCodes, McpError } from '@x/schema'
import { type Tool, tool } from '@x/server'
import { type TasksClient, tasksClient, type TasksClientOptions } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { duplicateOf17, forms, keys, stateWith, textOf, type Work } from './asking.ts'
import { createGate, type Gate } from '@tooling/vitest/gate'
import { overEveryTransport, type Peer, type PeerOptions, type Serve } from './over-every-transport.ts'

const quick: TasksClientOptions = { polling: { defaultMs: 20, minMs: 5 }, target: 'the server', user: 'ada' }
const state = stateWith(keys.first)
const newWork = (): Work => ({ saved: [], runs: [] })

interface Tasks extends AsyncDisposable {
  connect(
    options?: PeerOptions & { readonly tasks?: TasksClientOptions },
  ): Peer & { readonly tasks: TasksClient; readonly plain: Client }
}

/** Starts a server whose tools may become tasks, and clients that follow them. */
async function serveTasks(serve: Serve, tools: readonly Tool[]): Promise<Tasks> {
  const extension = tasks({ store: memoryEngine(), pollIntervalMs: 20 })
  const served = await serve({ tools, state, extensions: [extension] })
  return {
    connect: ({ tasks, ...options } = {}) => {
      const { client: plain, exchange } = served.connect(options)
      const { subject: _, ...given } = options
      const extensions = [tasksClient({ ...quick, ...tasks })] as const
      const client = createClient(exchange, { name: 'e2e-client', version: '1.0.0', ...given, extensions })
      return { client, plain, exchange, tasks: client.tasks }
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

/** Creates a tool that asks twice and then saves, as a task if the client supports tasks. */
const resolveTask = ({ saved }: Work): Tool =>
  tool('resolve', {
    description: 'Resolves a work item',
    input: z.object({ id: z.int() }),
    task: 'allowed',
    run: async ({ id }, ctx) => {
      const { resolution } = await ctx.elicit('resolution', { message: 'How?', schema: forms.resolution })
      const { original } = await ctx.elicit('original', { message: 'Of which item?', schema: forms.original })
      const count = await ctx.step('save', () => saved.push(`#${id}: ${resolution} of #${original}`))
      return `#${id}: ${resolution} of #${original} (save ${count})`
    },
  })

/** Creates a tool that waits until the gate opens or its signal aborts. */
function waiting(gate: Gate, stopped: Gate): Tool {
  return tool('wait', {
    description: 'Waits',
    task: 'allowed',
    run: async (_, ctx) => {
      ctx.signal.addEventListener('abort', () => stopped.open(), { once: true })
      await Promise.race([gate.opened, stopped.opened])
      ctx.signal.throwIfAborted()
      return 'waited'
    },
  })
}

const asksFirst = tool('asks_first', {
  description: 'Asks, continues as a task, and asks again',
  input: z.object({}),
  run: async (_, ctx) => {
    const { resolution } = await ctx.elicit('resolution', { message: 'How?', schema: forms.resolution })
    const isTask = await ctx.continueAsTask()
    const { original } = await ctx.elicit('original', { message: 'Of which?', schema: forms.original })
    return `${resolution} of ${original}, ${isTask ? 'as a task' : 'at once'}`
  },
})

overEveryTransport('a call that becomes a task', (serve) => {
  test.each<['poll' | 'listen']>([['poll'], ['listen']])(
    'is followed to its result with %s, and its questions are answered once [TSK-002 TSK-028 TSK-030 TSK-048 TSK-067]',
    async (follow) => {
      const work = newWork()
      await using served = await serveTasks(serve, [resolveTask(work)])
      const asked: string[] = []
      const elicit: InputHandlers['elicit'] = (question, context) => {
        asked.push(context.key)
        return duplicateOf17.elicit?.(question, context) ?? { action: 'cancel' }
      }
      const startedTools: string[] = []
      const onTask: TasksClientOptions['onTask'] = ({ tool: name }) => void startedTools.push(name)
      const { client } = served.connect({ elicit, tasks: { follow, onTask } })
      const result = await client.callTool('resolve', { id: 4522 })
      expect(textOf(result)).toBe('#4522: Duplicate of #17 (save 1)')
      expect([startedTools, asked, work.saved]).toEqual([
        ['resolve'],
        ['resolution', 'original'],
        ['#4522: Duplicate of #17'],
      ])
    },
  )

  test('after a question by round trips has the same result, and its later questions are answered too', async () => {
    await using served = await serveTasks(serve, [asksFirst])
    const { client, plain } = served.connect(duplicateOf17)
    expect(textOf(await client.callTool('asks_first'))).toBe('Duplicate of 17, as a task')
    expect(textOf(await plain.callTool('asks_first'))).toBe('Duplicate of 17, at once')
  })

  test('runs by round trips for a client without tasks, with the same result', async () => {
    await using served = await serveTasks(serve, [resolveTask(newWork())])
    const { plain: client } = served.connect(duplicateOf17)
    expect(textOf(await client.callTool('resolve', { id: 1 }))).toBe('#1: Duplicate of #17 (save 1)')
  })

  test('fails with the error of the call', async () => {
    const failing = tool('fail', {
      description: 'Fails with a protocol error',
      task: 'required',
      run: () => {
        throw new McpError(errorCodes.invalidParams, 'not like that', { data: { why: 'because' } })
      },
    })
    await using served = await serveTasks(serve, [failing])
    const { client, plain } = served.connect()
    await expect(client.callTool('fail')).rejects.toMatchObject({
      name: 'ClientError',
      code: 'rpc',
      target: 'fail',
      rpc: { code: errorCodes.invalidParams, message: 'not like that', data: { why: 'because' } },
    })
    await expect(plain.callTool('fail')).rejects.toMatchObject({
      rpc: { code: errorCodes.missingRequiredClientCapability },
    })
  })

  test('and is cancelled by its handle or by the signal of the call stops its handler [TSK-040]', async () => {
    const [one, two] = [createGate(), createGate()]
    const stops = [one, two]
    const stopping: Tool = tool('wait', {
      description: 'Waits to be stopped',
      task: 'allowed',
      run: async (_, ctx) => {
        const stop = stops.shift()
        if (stop) ctx.signal.addEventListener('abort', () => stop.open(), { once: true })
        await stop?.opened
        ctx.signal.throwIfAborted()
        return 'never'
      },
    })
    await using served = await serveTasks(serve, [stopping])
    const { tasks } = served.connect()
    const started = await tasks.start('wait')
    if (started.status !== 'task') throw new Error('the call is not a task')
    const working = started.task[Symbol.asyncIterator]()
    await working.next()
    await started.task.cancel()
    await one.opened
    await expect(started.task.result()).rejects.toMatchObject({ name: 'TaskError', code: 'cancelled', tool: 'wait' })
    await working.return?.(undefined)

    const controller = new AbortController()
    const reason = new Error('the user left')
    const startedTools = createGate()
    const { client } = served.connect({ tasks: { onTask: () => startedTools.open() } })
    void startedTools.opened.then(() => controller.abort(reason))
    await expect(client.callTool('wait', {}, { signal: controller.signal })).rejects.toBe(reason)
    await two.opened
  })

  test('and is serialized is resumed by another client of the same user, and not by other users [TSK-018]', async () => {
    const gate = createGate()
    await using served = await serveTasks(serve, [waiting(gate, createGate())])
    const first = served.connect({ subject: 'ada' })
    const started = await first.tasks.start('wait')
    if (started.status !== 'task') throw new Error('the call is not a task')
    const serialized: unknown = JSON.parse(JSON.stringify(started.task.serialize()))

    const eve = served.connect({ subject: 'eve' }).tasks.resume(serialized)
    for (const ask of [eve.status, eve.result, eve.cancel]) {
      await expect(ask()).rejects.toMatchObject({ name: 'TaskError', code: 'expired' })
    }
    const { tasks } = served.connect({ subject: 'ada', tasks: { user: 'eve' } })
    expect(() => tasks.resume(serialized)).toThrow(expect.objectContaining({ code: 'foreign' }))

    const result = served.connect({ subject: 'ada' }).tasks.resume(serialized).result()
    gate.open()
    expect(textOf(await result)).toBe('waited')
  })
})
