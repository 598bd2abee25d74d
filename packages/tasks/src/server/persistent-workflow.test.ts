import { errorCodes, type JsonObject } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { accept, createFleet, plain, textOf } from '../testing/fleet.ts'
import { tools } from '../testing/tools.ts'

const add = () => createFleet().add(tools, { persistentWorkflow: true })
const related = (taskId: string) => ({ meta: { 'io.modelcontextprotocol/related-task': { taskId } } })

describe('the persistent workflow, if it is enabled', () => {
  test('returns its questions as the result of a task, accepts the answers, and then returns its result [PWF-001 PWF-002]', async () => {
    const { start, result, reach } = add()
    const taskId = await start('ask')
    const asked = await result('tasks/result', {}, related(taskId))
    expect([asked.resultType, Object.keys(asked.inputRequests ?? {})]).toEqual(['input_required', ['one', 'two']])
    const inputResponses = { one: accept({ name: 'Ada' }), two: accept({ name: 'Grace' }) }
    const acknowledged = await result('tasks/input_response', { inputResponses }, related(taskId))
    expect(Object.keys(acknowledged).toSorted()).toEqual(['_meta', 'resultType'])
    expect(['working', 'completed']).toContain(
      (await reach(taskId, ({ status }) => status !== 'input_required')).status,
    )
    const completed = await result('tasks/result', { taskId })
    expect(textOf(completed)).toBe('Ada and Grace')
    for (const { _meta } of [asked, acknowledged, completed]) {
      expect(_meta).toMatchObject({ 'io.modelcontextprotocol/related-task': { taskId } })
    }
  })

  test('is in the capabilities of the server, and its status message names the method with the requests', async () => {
    const { start, result, reach } = add()
    const { capabilities } = await result('server/discover')
    expect(capabilities).toMatchObject({ extensions: { 'io.modelcontextprotocol/tasks': { persistentWorkflow: {} } } })
    expect(await reach(await start('ask'), 'input_required')).toMatchObject({
      statusMessage: 'The task needs input: tasks/result has its requests',
    })
    const without = await createFleet().add(tools).result('server/discover')
    expect(without.capabilities).toMatchObject({ extensions: { 'io.modelcontextprotocol/tasks': {} } })
    expect(JSON.stringify(without)).not.toContain('persistentWorkflow')
  })

  test('creates a task for the `task` parameter of a call, with its `ttl` up to that of the author [PWF-004]', async () => {
    const { result } = createFleet().add(tools, { persistentWorkflow: true, ttlMs: 60_000 })
    const call = (task: JsonObject) =>
      result('tools/call', { name: 'ask', arguments: {}, task }, { capabilities: plain })
    expect(await call({ ttl: 30_000 })).toMatchObject({ resultType: 'task', ttlMs: 30_000 })
    const created = await call({ ttl: 90_000 })
    expect(created).toMatchObject({ resultType: 'task', ttlMs: 60_000 })
    const asked = await result('tasks/result', { taskId: created['taskId'] ?? '' }, { capabilities: plain })
    expect(Object.keys(asked.inputRequests ?? {})).toEqual(['one', 'two'])
  })

  test('stores a task for the `ttl` that its call asked for, whatever its changes of status [ENG-010]', async () => {
    const fleet = createFleet()
    const { result, reach, see, error } = fleet.add(tools, { persistentWorkflow: true, ttlMs: 60_000 })
    const { taskId = '' } = await result(
      'tools/call',
      { name: 'ask', arguments: {}, task: { ttl: 30_000 } },
      { capabilities: plain },
    )
    const id = String(taskId)
    fleet.pass(0)
    await reach(id, 'input_required')
    fleet.pass(20_000)
    const inputResponses = { one: accept({ name: 'Ada' }), two: accept({ name: 'Grace' }) }
    await result('tasks/input_response', { taskId: id, inputResponses })
    expect((await reach(id, 'completed')).ttlMs).toBe(30_000)
    fleet.pass(9_999)
    expect((await see(id)).status).toBe('completed')
    fleet.pass(1)
    expect((await error('tasks/get', { taskId: id })).code).toBe(errorCodes.invalidParams)
  })

  test('repeats the requests that were not answered [PWF-003]', async () => {
    const { start, result, see } = add()
    const taskId = await start('ask')
    await result('tasks/result', { taskId })
    await result('tasks/input_response', { taskId, inputResponses: { one: accept({ name: 'Ada' }), more: {} } })
    expect((await see(taskId)).status).toBe('input_required')
    const asked = await result('tasks/result', { taskId })
    expect(Object.keys(asked.inputRequests ?? {})).toEqual(['two'])
  })

  test('returns the error of a failed task, and an error for a cancelled task', async () => {
    const { start, result, error } = add()
    expect(await error('tasks/result', { taskId: await start('break') })).toEqual({
      code: errorCodes.internal,
      message: 'API rate limit exceeded',
      data: { after: 3 },
    })
    const taskId = await start('ask')
    await result('tasks/result', { taskId })
    await result('tasks/cancel', { taskId })
    expect((await error('tasks/result', { taskId })).message).toBe('The task was cancelled: it has no result')
  })

  test('waits while the task runs, and until its caller cancels the request', async () => {
    const { start, ask, result, reach, clock } = add()
    const taskId = await start('work')
    const caller = new AbortController()
    const waiting = ask('tasks/result', { taskId }, { signal: caller.signal })
    await reach(taskId, 'working')
    await new Promise(setImmediate)
    caller.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    const other = ask('tasks/result', { taskId })
    await new Promise(setImmediate)
    await result('tasks/cancel', { taskId })
    expect(await other).toMatchObject({ error: { code: errorCodes.invalidParams } })
    expect(clock.waiting).toBe(3)
  })

  test('ends at once for a caller that has cancelled before the wait begins', async () => {
    const caller = new AbortController()
    let looks = 0
    const fleet = createFleet((engine) => ({
      ...engine,
      get: (...asked) => {
        looks += 1
        if (looks === 1) caller.abort(new Error('gone'))
        return engine.get(...asked)
      },
    }))
    const { start, ask, clock } = fleet.add(tools, { persistentWorkflow: true, runWorker: false })
    const taskId = await start('work')
    await expect(ask('tasks/result', { taskId }, { signal: caller.signal })).rejects.toThrow('gone')
    expect([looks, clock.waiting]).toEqual([1, 2])
  })

  test.each(['tasks/result', 'tasks/input_response'])(
    '%s is for the owner only, which need not declare the extension',
    async (method) => {
      const { start, error, result } = add()
      const principal = { subject: 'ada' }
      const taskId = await start('ask', {}, { principal })
      const params = { taskId, inputResponses: {} }
      expect((await error(method, params)).code).toBe(errorCodes.invalidParams)
      expect((await error(method, { inputResponses: {} })).message).toContain('must be a string, got nothing')
      expect(await result(method, params, { principal, capabilities: plain })).toHaveProperty('_meta')
    },
  )
})
