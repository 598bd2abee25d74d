import { clientAddressKey, createCall, withContext } from '@x/exchange'
import { errorCodes, McpError } from '@x/schema'
import { createServer, type TaskChoice, tool } from '@x/server'
import { createTaskResult } from '@x/tasks/zod'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  greetAdaParams,
  tasksClientCapabilities,
  createFleet,
  createGate,
  createGreetTool,
  replayModes,
  plain,
  textOf,
} from '../testing/fleet.ts'

describe('a call becomes a task', () => {
  test.each<[string, TaskChoice | undefined, object, unknown]>([
    ['not without the option of its tool', undefined, tasksClientCapabilities, 'complete'],
    ['not if its tool forbids it', 'never', tasksClientCapabilities, 'complete'],
    ['if its tool allows it, and its client accepts tasks', 'allowed', tasksClientCapabilities, 'task'],
    ['not if its tool allows it, and its client accepts no tasks', 'allowed', plain, 'complete'],
    ['if its tool requires it, and its client accepts tasks', 'required', tasksClientCapabilities, 'task'],
  ])('%s [TSK-001 TSK-007 TSK-008]', async (_title, choice, capabilities, resultType) => {
    const { result } = createFleet().add([createGreetTool(choice)])
    expect((await result('tools/call', greetAdaParams, { capabilities })).resultType).toBe(resultType)
  })

  test('never because an earlier request declared the extension [TSK-001]', async () => {
    const { result } = createFleet().add([createGreetTool('allowed')])
    expect((await result('tools/call', greetAdaParams)).resultType).toBe('task')
    expect((await result('tools/call', greetAdaParams, { capabilities: plain })).resultType).toBe('complete')
  })

  test('as its tool decides by the arguments and the caller', async () => {
    const deciding = tool('greet', {
      description: 'Greets',
      input: z.object({ name: z.string() }),
      task: ({ name }, ctx) => (name.length > 3 && ctx.principal?.subject === 'grace' ? 'required' : 'never'),
      run: ({ name }) => name,
    })
    const { result } = createFleet().add([deciding])
    const principal = { subject: 'grace' }
    const types = [
      await result('tools/call', greetAdaParams, { principal }),
      await result('tools/call', { name: 'greet', arguments: { name: 'Barbara' } }, { principal }),
      await result('tools/call', { name: 'greet', arguments: { name: 'Barbara' } }),
    ].map(({ resultType }) => resultType)
    expect(types).toEqual(['complete', 'task', 'complete'])
  })

  test('and a client that does not accept a task gets an error [TSK-004 TSK-060]', async () => {
    const { error } = createFleet().add([createGreetTool('required')])
    const capabilities = { ...plain, tasks: { requests: {} }, experimental: { tasks: {} } }
    expect(await error('tools/call', greetAdaParams, { capabilities })).toMatchObject({
      code: errorCodes.missingRequiredClientCapability,
      data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    })
  })

  test('not because the request has the parameter of an earlier revision [TSK-064]', async () => {
    const { result } = createFleet().add([createGreetTool()])
    const answer = await result('tools/call', { ...greetAdaParams, task: { ttl: 1000 } })
    expect([answer.resultType, textOf(answer)]).toEqual(['complete', 'Hello, Ada!'])
  })

  test('not if its arguments are rejected or its tool is unknown', async () => {
    const { result, error } = createFleet().add([createGreetTool('required')])
    expect(await result('tools/call', { name: 'greet', arguments: {} })).toMatchObject({
      resultType: 'complete',
      isError: true,
    })
    expect((await error('tools/call', { name: 'other' })).code).toBe(errorCodes.invalidParams)
  })

  test('only on a server with tasks: otherwise a tool that allows both returns a result', async () => {
    const allowing = createServer({ name: 'demo', version: '1', state: false, tools: [createGreetTool('allowed')] })
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': tasksClientCapabilities,
    }
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...greetAdaParams, _meta } } as const
    expect(await allowing.exchange(request, createCall())).toMatchObject({ result: { resultType: 'complete' } })
  })
})

describe('the result with a task', () => {
  test('has all members at the top level, with times in ISO 8601 and whole milliseconds [TSK-012]', async () => {
    const { result } = createFleet().add([createGreetTool('allowed')], { ttlMs: 60_000, pollIntervalMs: 250 })
    const { taskId, ...created } = createTaskResult.parse(await result('tools/call', greetAdaParams))
    expect(created).toEqual({
      resultType: 'task',
      status: 'working',
      createdAt: '2026-07-28T00:00:00.000Z',
      lastUpdatedAt: '2026-07-28T00:00:00.000Z',
      ttlMs: 60_000,
      pollIntervalMs: 50,
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'demo', version: '1' } },
    })
    expect(taskId).toMatch(/^[0-9a-f]{40}$/)
  })

  test("has a rising poll interval, at most a third of its age, up to the author's [TSK-016]", async () => {
    const shut = createGate()
    const slow = tool('slow', {
      description: 'Waits',
      task: 'required',
      run: async () => {
        await shut.pass()
        return 'done'
      },
    })
    const fleet = createFleet()
    const { start, see } = fleet.add([slow], { pollIntervalMs: 250 })
    const taskId = await start('slow')
    await shut.reached
    const intervals: unknown[] = []
    for (const ms of [0, 149, 151, 299, 301, 600]) {
      fleet.pass(ms)
      intervals.push((await see(taskId)).pollIntervalMs)
    }
    // Ages of 0, 149, 300, 599, 900 and 1500 ms.
    expect(intervals).toEqual([50, 50, 100, 100, 200, 250])
    shut.open()
  })

  test('has the lifetime null for a task that is stored for ever [TSK-012]', async () => {
    const { result } = createFleet().add([createGreetTool('allowed')], { ttlMs: null })
    expect((await result('tools/call', greetAdaParams)).ttlMs).toBeNull()
  })

  test('has an id that cannot be guessed, of 160 random bits [TSK-068]', async () => {
    const chance = vi.spyOn(crypto, 'getRandomValues')
    const { start } = createFleet().add([createGreetTool('allowed')])
    const ids = new Set<string>()
    for (let index = 0; index < 50; index++) ids.add(await start('greet', { name: 'Ada' }))
    expect(ids.size).toBe(50)
    const asked = chance.mock.calls.filter(([bytes]) => bytes instanceof Uint8Array && bytes.length === 20)
    expect(asked).toHaveLength(50)
    chance.mockRestore()
  })

  test('is sent only when every instance can read the task [TSK-013 TSK-014]', async () => {
    const fleet = createFleet()
    const [accepting, other] = [
      fleet.add([createGreetTool('allowed')], { runWorker: false }),
      fleet.add([createGreetTool('allowed')]),
    ]
    const taskId = await accepting.start('greet', { name: 'Ada' })
    expect((await other.see(taskId)).taskId).toBe(taskId)
  })

  test('is not sent if the task could not be stored [TSK-013]', async () => {
    const failing = createFleet((engine) => ({ ...engine, create: () => Promise.reject(new Error('no disk')) }))
    const { error, errors } = failing.add([createGreetTool('allowed')])
    expect(await error('tools/call', greetAdaParams)).toEqual({ code: errorCodes.internal, message: 'Internal error' })
    expect(errors).toEqual([new Error('no disk')])
  })
})

test('the extension is declared, and the tasks of earlier revisions are not [TSK-005 TSK-065 TSK-066]', async () => {
  const other = { extends: 'server', name: 'other', identifier: 'com.example/other', capabilities: {} } as const
  const { result, server } = createFleet().add([createGreetTool()], {}, { extensions: [other] })
  const { capabilities } = await result('server/discover')
  expect(capabilities).toMatchObject({
    tools: {},
    extensions: { 'io.modelcontextprotocol/tasks': {}, 'com.example/other': {} },
  })
  expect(capabilities).not.toHaveProperty('tasks')
  expect([server.info.name, server.load.ready]).toEqual(['demo', true])
})

test('a tool of a server with tasks is listed as on a server without tasks [TSK-066]', async () => {
  const { result } = createFleet().add([createGreetTool('required')])
  const { tools } = await result('tools/list')
  expect(tools).toEqual([expect.not.objectContaining({ execution: expect.anything() })])
})

test('each principal can have as many open tasks as its limit', async () => {
  const { error, start, server } = createFleet().add(
    [createGreetTool('allowed')],
    { runWorker: false },
    { limits: { tasks: 2 } },
  )
  const principal = { subject: 'ada', issuer: 'https://a.example' }
  await start('greet', { name: 'Ada' }, { principal })
  await start('greet', { name: 'Ada' }, { principal })
  expect(await error('tools/call', greetAdaParams, { principal })).toMatchObject({
    message: expect.stringContaining('cancel a task, or wait until one has ended'),
    data: { reason: 'quota', limit: 'tasks', max: 2, retryAfterMs: 1000 },
  })
  await start('greet', { name: 'Ada' }, { principal: { ...principal, issuer: 'https://b.example' } })
  await start('greet', { name: 'Ada' })
  expect(server.tasks.running).toBe(0)
})

test('callers without a principal have a limit of open tasks for each address', async () => {
  const { error, start } = createFleet().add(
    [createGreetTool('allowed')],
    { runWorker: false },
    { limits: { tasks: 1 } },
  )
  const at = (address: string) => withContext(createCall(), clientAddressKey, address)
  const taskId = await start('greet', { name: 'Eve' }, at('192.0.2.66'))
  expect(await error('tools/call', greetAdaParams, at('192.0.2.66'))).toMatchObject({
    data: { limit: 'tasks' },
  })
  const other = await start('greet', { name: 'Ada' }, at('192.0.2.1'))
  expect(other).not.toBe(taskId)
})

test('ended tasks of a caller count, and a new task replaces the oldest one [ENG-009]', async () => {
  const { start, reach, error, see } = createFleet().add([createGreetTool('allowed')], {}, { limits: { tasks: 2 } })
  const ids: string[] = []
  for (let index = 0; index < 3; index++) {
    const id = await start('greet', { name: 'Ada' })
    await reach(id, 'completed')
    ids.push(id)
  }
  expect((await error('tasks/get', { taskId: String(ids[0]) })).message).toContain('is not found')
  for (const id of ids.slice(1)) expect((await see(id)).status).toBe('completed')
})

describe('a tool that is hidden from the stored caller of a task', () => {
  const principal = { subject: 'ada', claims: { plan: 'full' } }
  const paid = tool('paid', {
    description: 'x',
    task: 'required',
    visibleTo: (caller) => caller?.claims?.['plan'] === 'full',
    run: () => 'ran',
  })
  const called = { name: 'paid', arguments: {} }

  test('does not become a task, because no worker could run it', async () => {
    const { error, errors } = createFleet().add([paid], { runWorker: false }, { state: false })
    const message = expect.stringContaining('The tool "paid" cannot run as a task: without a `state` of the server')
    expect(await error('tools/call', called, { principal })).toMatchObject({ code: errorCodes.internal, message })
    expect(errors).toMatchObject([{ message }])
  })

  test('becomes a task if the claims are stored with it', async () => {
    const { start } = createFleet().add([paid], { runWorker: false })
    expect(await start('paid', {}, { principal })).toEqual(expect.any(String))
  })
})

test.each([
  ['ttlMs', 0, ' to 8640000000000000'],
  ['ttlMs', Number.MAX_SAFE_INTEGER, ' to 8640000000000000'],
  ['concurrency', 1.5, ''],
  ['pollIntervalMs', Number.NaN, ''],
])('an invalid option is refused: %s of %s', (name, value, max) => {
  expect(() => createFleet().add([createGreetTool()], { [name]: value })).toThrow(
    new RangeError(`${name} is ${value}: write a whole number from 1${max}`),
  )
})

test('the longest lifetime of a task is valid for its client when its status has changed', async () => {
  const fleet = createFleet()
  const { start, reach } = fleet.add([createGreetTool('allowed')], { ttlMs: 8_640_000_000_000_000, runWorker: false })
  const taskId = await start('greet', { name: 'Ada' })
  fleet.pass(86_400_000)
  fleet.add([createGreetTool('allowed')], { ttlMs: 8_640_000_000_000_000 })
  expect(Number.isSafeInteger((await reach(taskId, 'completed')).ttlMs)).toBe(true)
})

test('a text for a yes or no is refused: "false" would let an instance run tasks', () => {
  const options = Object({ runWorker: 'false' })
  expect(() => createFleet().add([createGreetTool()], options)).toThrow('tasks: runWorker must be true or false')
})

test('an McpError of the function that decides is the error of the call', async () => {
  const deciding = tool('decide', {
    description: 'Decides',
    task: () => {
      throw new McpError(errorCodes.invalidParams, 'Not like this')
    },
    run: () => 'done',
  })
  const { error } = createFleet().add([deciding])
  expect((await error('tools/call', { name: 'decide' })).message).toBe('Not like this')
})

test.each(replayModes)(
  'a tool decides once for each call, and not again in its task ($strictReplay)',
  async (definition) => {
    const decisions: string[] = []
    const runs: string[] = []
    const deciding = tool('decide', {
      description: 'Decides',
      input: z.object({ name: z.string() }),
      task: ({ name }) => (decisions.push(name), name === 'Ada' ? 'required' : 'never'),
      run: async ({ name }, ctx) => {
        runs.push(name)
        await ctx.step('one', () => name)
        await ctx.step('two', () => name)
        return name
      },
    })
    const instance = createFleet().add([deciding], {}, definition)
    await instance.reach(await instance.start('decide', { name: 'Ada' }), 'completed')
    expect([decisions, runs.length > 0]).toEqual([['Ada'], true])
    expect((await instance.result('tools/call', { name: 'decide', arguments: { name: 'Bob' } })).resultType).toBe(
      'complete',
    )
    expect(decisions).toEqual(['Ada', 'Bob'])
  },
)
