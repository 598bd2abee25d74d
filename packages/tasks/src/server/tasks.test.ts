import { createCall, type Middleware, type ServerExtension } from '@x/exchange'
import { errorResponse, errorCodes, McpError, projectMetaKeys } from '@x/schema'
import { createServer, sealedState, tool } from '@x/server'
import { describe, expect, test, vi } from 'vitest'
import type { TaskEngine } from '../engines/engine.ts'
import { createLazyEngine } from '../engines/lazy-engine.ts'
import { memoryEngine } from '../engines/memory-engine.ts'
import { createFleet, textOf } from '../testing/fleet.ts'
import type { TaskOptions } from './options.ts'
import { tasks } from './tasks.ts'

const greet = tool('greet', { description: 'Greets', task: 'required', run: () => 'Hello!' })
const settled = (): Promise<void> => new Promise(setImmediate)

/** An engine that records its calls. */
function recording(engine: TaskEngine = memoryEngine()): { readonly engine: TaskEngine; readonly asked: string[] } {
  const asked: string[] = []
  const proxied = new Proxy(engine, {
    get: (target, key, receiver) => {
      const member: unknown = Reflect.get(target, key, receiver)
      if (typeof member === 'function') asked.push(String(key))
      return member
    },
  })
  return { engine: proxied, asked }
}

function listRequest() {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } } as const
}

describe('a server with tasks', () => {
  test('does not call its engine before the first request', async () => {
    const { engine, asked } = recording()
    await using server = createServer({
      name: 'demo',
      version: '1',
      tools: [greet],
      extensions: [tasks({ store: engine })],
    })
    await settled()
    expect(asked).toEqual([])
    await server.exchange(listRequest(), createCall())
    expect(asked).toEqual(expect.arrayContaining(['listen', 'claim']))
  })

  test('starts its worker with `ready()`, which an instance without requests must call', async () => {
    const engine = memoryEngine()
    const accepting = createFleet(() => engine).add([greet], { runWorker: false })
    const taskId = await accepting.start('greet')
    await using server = createServer({
      name: 'worker',
      version: '1',
      tools: [greet],
      extensions: [tasks({ store: engine })],
    })
    await settled()
    expect((await accepting.see(taskId)).status).toBe('working')
    expect(await server.ready()).toBe(true)
    while ((await server.tasks.get(taskId))?.status !== 'completed') await settled()
    expect((await accepting.see(taskId)).status).toBe('completed')
  })

  test('is in the load of its server while its engine is unreachable, and logs the error', async () => {
    let isAway = true
    const errors: unknown[] = []
    const engine: TaskEngine = {
      ...memoryEngine(),
      ping: () => (isAway ? Promise.reject(new Error('unreachable')) : Promise.resolve()),
    }
    await using server = createServer({
      name: 'demo',
      version: '1',
      log: ({ err }) => void errors.push(err),
      extensions: [tasks({ store: engine })],
    })
    expect([await server.ready(), server.load.unavailable]).toEqual([true, ['tasks']])
    expect(errors).toMatchObject([{ cause: new Error('unreachable') }])
    isAway = false
    expect([await server.ready(), server.load.unavailable]).toEqual([true, []])
  })

  test('is unavailable after a write that failed, until a write succeeds or ten seconds have passed [UNA-004]', async () => {
    let isFull = true
    const stored = memoryEngine()
    const create: TaskEngine['create'] = (task) =>
      isFull ? Promise.reject(new Error('No space left on device')) : stored.create(task)
    const instance = createFleet(() => ({ ...stored, create })).add([greet], { runWorker: false })
    const { server, clock } = instance
    const unavailable = async () => (await server.ready(), server.load.unavailable)
    expect(await unavailable()).toEqual([])
    await expect(instance.start('greet')).rejects.toBeDefined()
    expect(await unavailable()).toEqual(['tasks'])
    isFull = false
    await instance.start('greet')
    expect(await unavailable()).toEqual([])
    isFull = true
    await expect(instance.start('greet')).rejects.toBeDefined()
    expect(await unavailable()).toEqual(['tasks'])
    clock.advance(10_000)
    expect(await unavailable()).toEqual([])
  })

  test('closes its engine once when it closes, and starts no worker after that', async () => {
    const { engine, asked } = recording()
    const server = createServer({ name: 'demo', version: '1', tools: [greet], extensions: [tasks({ store: engine })] })
    await Promise.all([server.close(), server.close()])
    await server.exchange(listRequest(), createCall())
    await settled()
    expect(asked).toEqual(['close'])
  })

  test('logs failures in the background', async () => {
    const errors: unknown[] = []
    const engine: TaskEngine = { ...memoryEngine(), claim: () => Promise.reject(new Error('no claims')) }
    await using server = createServer({
      name: 'demo',
      version: '1',
      log: ({ err }) => void errors.push(err),
      extensions: [tasks({ store: engine })],
    })
    await server.ready()
    await settled()
    expect(errors).toEqual([new Error('no claims')])
  })

  test('returns the tasks of all owners and the number of running tasks to its operator', async () => {
    const { server, start } = createFleet().add([greet], { runWorker: false })
    const taskId = await start('greet', {}, { principal: { subject: 'ada' } })
    expect(await server.tasks.get(taskId)).toMatchObject({ taskId, status: 'working' })
    expect([await server.tasks.get('other'), server.tasks.running]).toEqual([undefined, 0])
  })

  test('runs no task after undrain if it has no worker', async () => {
    const { server, start, see } = createFleet().add([greet], { runWorker: false })
    const taskId = await start('greet')
    server.drain()()
    await settled()
    expect((await see(taskId)).status).toBe('working')
  })
})

/** The order of three extensions in the list. */
const permutations = [
  ['tasks', 'authorizing', 'counting'],
  ['tasks', 'counting', 'authorizing'],
  ['authorizing', 'tasks', 'counting'],
  ['authorizing', 'counting', 'tasks'],
  ['counting', 'tasks', 'authorizing'],
  ['counting', 'authorizing', 'tasks'],
] as const

describe.each(permutations)('the extensions %s, %s and %s', (...order) => {
  function composed() {
    const passed: string[] = []
    const noting =
      (name: string): Middleware =>
      (next) =>
      (request, call) => {
        passed.push(`${name} ${request.method}`)
        return next(request, call)
      }
    const authorize: Middleware = (next) => async (request, call) => {
      if (call.principal?.scopes?.includes('work')) return next(request, call)
      return errorResponse(request.id, new McpError(errorCodes.invalidParams, 'not authorized'))
    }
    const authorizing: ServerExtension<'authorizing', undefined> = {
      extends: 'server',
      name: 'authorizing',
      identifier: 'com.example/authorizing',
      needsPrincipal: true,
      middleware: (next) => noting('authorizing')(authorize(next)),
    }
    const counting: ServerExtension<'counting', undefined> = {
      extends: 'server',
      name: 'counting',
      identifier: 'com.example/counting',
      middleware: noting('counting'),
    }
    const engine = memoryEngine()
    const all = { tasks: tasks({ store: engine }), authorizing, counting }
    const server = createServer({
      name: 'demo',
      version: '1',
      tools: [greet],
      use: [noting('use')],
      extensions: order.map((name) => all[name]),
    })
    return { server, engine, passed }
  }

  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  }
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet', _meta } } as const
  const principal = { subject: 'ada', scopes: ['work'] }

  test('authorize a call when its task is created, and not again when a worker runs it', async () => {
    const { server, engine, passed } = composed()
    const response = await server.exchange(request, createCall({ principal }))
    const taskId = 'result' in response ? String(response.result['taskId']) : ''
    const done = async () => (await engine.inspect(taskId))?.status === 'completed'
    while (!(await done())) await settled()
    expect(textOf((await engine.inspect(taskId))?.result)).toBe('Hello!')
    // Other middleware wraps both, in this order, which does not depend on the order of the list.
    expect(passed).toEqual(['use tools/call', 'authorizing tools/call', 'counting tools/call', 'counting tools/call'])
    expect(server.needsPrincipal).toBe(true)
    await server.close()
  })

  test('create no task for a caller without authorization', async () => {
    const { server, passed } = composed()
    const response = await server.exchange(request, createCall({ principal: { subject: 'eve' } }))
    await settled()
    expect(response).toMatchObject({ error: { message: 'not authorized' } })
    expect(passed).toEqual(['use tools/call', 'authorizing tools/call'])
    await server.close()
  })
})

describe('readiness', () => {
  const away: TaskEngine = { ...memoryEngine(), ping: () => Promise.reject(new Error('unreachable')) }
  const choice = (task: 'allowed' | 'required') => tool('greet', { description: 'Greets', task, run: () => 'Hello!' })

  test.each([
    ['required', false],
    ['allowed', true],
  ] as const)(
    'while the engine is unreachable, a server whose tools have the option task: %s has the readiness %s',
    async (task, isReady) => {
      const extensions = [tasks({ store: away })]
      const tools = [choice(task)]
      await using server = createServer({ name: 'demo', version: '1', tools, extensions, log: () => {} })
      expect([await server.ready(), server.load.unavailable]).toEqual([isReady, ['tasks']])
    },
  )

  describe('whose engine needs a missing package', () => {
    const missing = Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' })
    const openStore = () => createLazyEngine(1000, () => Promise.reject(missing))

    test('a server is not ready', async () => {
      const log = vi.fn()
      const definition = { name: 'demo', version: '1', tools: [choice('allowed')], log }
      await using server = createServer({
        ...definition,
        extensions: [tasks({ store: openStore(), runWorker: false })],
      })
      expect([await server.ready(), server.load.unavailable]).toEqual([false, ['tasks']])
      expect(log).toHaveBeenCalledWith(expect.objectContaining({ err: expect.objectContaining({ cause: missing }) }))
    })

    test.each([{}, { [projectMetaKeys.idempotencyKey]: 'A'.repeat(22) }])(
      'a call with %j fails as a fault of the server, which is logged once and not retried',
      async (meta) => {
        const { error, errors } = createFleet(openStore).add([choice('required')])
        const failure = await error('tools/call', { name: 'greet' }, { meta })
        await error('tools/call', { name: 'greet' }, { meta })
        expect([failure.message, failure.data, errors.filter((logged) => logged === missing)]).toEqual([
          'This server cannot run tasks: it lacks a package, which its log names',
          undefined,
          [missing],
        ])
      },
    )
  })
})

describe('tasks in memory, where `state` has keys for several instances', () => {
  const state = sealedState({ keys: ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef'] })
  const reasonOf = (options: TaskOptions): string | undefined =>
    createServer({ name: 'demo', version: '1', tools: [greet], state, extensions: [tasks(options)] }).localOnly

  test('are for this machine only, with the reason and the remedy', () => {
    expect(reasonOf({})).toContain('keeps tasks in the memory of this process')
    expect(
      createServer({ name: 'demo', version: '1', tools: [greet], state: false, extensions: [tasks()] }).localOnly,
    ).toBe(undefined)
  })

  test.each([{ store: 'memory:' }, { store: memoryEngine() }])(
    'are for any machine if they are requested: %j',
    (options) => {
      expect(reasonOf(options)).toBeUndefined()
    },
  )
})
