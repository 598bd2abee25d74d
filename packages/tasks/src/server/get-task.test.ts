import { errorCodes } from '@x/schema'
import { getTaskResult } from '@x/tasks/zod'
import { describe, expect, test } from 'vitest'
import { createFleet, plain } from '../testing/fleet.ts'
import { tools } from '../testing/tools.ts'

describe('tasks/get returns the status of a task [TSK-019]', () => {
  test('while it runs [TSK-020 TSK-026]', async () => {
    const { start, see } = createFleet().add(tools)
    const task = await see(await start('work'))
    expect(getTaskResult.parse(task)).toEqual(task)
    expect(task).toMatchObject({ resultType: 'complete', status: 'working' })
  })

  test('while it waits, with all open requests [TSK-021 TSK-022 TSK-026]', async () => {
    const { start, reach } = createFleet().add(tools)
    const task = await reach(await start('ask'), 'input_required')
    expect(getTaskResult.parse(task)).toEqual(task)
    expect(task).toMatchObject({
      inputRequests: {
        one: { method: 'elicitation/create', params: { message: 'What is the one?' } },
        two: { method: 'elicitation/create', params: { message: 'What is the two?' } },
      },
    })
    expect(task).not.toHaveProperty('requestState')
  })

  test('when it is completed, with the result that the call would have returned [TSK-023 TSK-026 TSK-058]', async () => {
    const { start, reach, result } = createFleet().add(tools)
    const task = await reach(await start('greet'), 'completed')
    expect(getTaskResult.parse(task)).toEqual(task)
    expect(task.result).toEqual(await result('tools/call', { name: 'greet' }, { capabilities: plain }))
  })

  test.each([
    ['a result with `isError`', 'fail'],
    ['an error that its handler threw', 'throw'],
  ])('when its tool failed with %s, as completed [TSK-011 TSK-057]', async (_title, name) => {
    const { start, reach } = createFleet().add(tools)
    const task = await reach(await start(name), 'completed')
    expect(task.result).toMatchObject({ isError: true, content: [{ type: 'text', text: 'Sold out' }] })
    expect(task).not.toHaveProperty('error')
  })

  test('when it ended with an error of the protocol [TSK-025 TSK-055 TSK-056]', async () => {
    const { start, reach } = createFleet().add(tools)
    const task = await reach(await start('break'), 'failed')
    expect(getTaskResult.parse(task)).toEqual(task)
    expect(task).toMatchObject({
      statusMessage: 'API rate limit exceeded',
      error: { code: errorCodes.internal, message: 'API rate limit exceeded', data: { after: 3 } },
    })
    expect(task).not.toHaveProperty('result')
  })

  test('when it was cancelled [TSK-024]', async () => {
    const { start, reach, result } = createFleet().add(tools)
    const taskId = await start('work')
    await result('tasks/cancel', { taskId })
    const task = await reach(taskId, 'cancelled')
    expect(getTaskResult.parse(task)).toEqual(task)
    expect(Object.keys(task)).not.toEqual(expect.arrayContaining(['result', 'error']))
  })

  test('by one read of the engine, without a write', async () => {
    const looks: string[] = []
    const fleet = createFleet(
      (engine) => new Proxy(engine, { get: (target, key) => (looks.push(String(key)), Reflect.get(target, key)) }),
    )
    const { start, reach, see } = fleet.add(tools)
    const taskId = await start('greet')
    await reach(taskId, 'completed')
    looks.length = 0
    const [first, second] = [await see(taskId), await see(taskId)]
    expect(looks).toEqual(['get', 'get'])
    expect(second).toEqual(first)
  })

  test('with the result type `complete`: the type `task` is only for the result that created it [TSK-008]', async () => {
    const { start, reach, result } = createFleet().add(tools)
    const taskId = await start('ask')
    const types = [await reach(taskId, 'input_required'), await result('tasks/update', { taskId, inputResponses: {} })]
    types.push(await result('tasks/cancel', { taskId }), await reach(taskId, 'cancelled'))
    expect(types.map(({ resultType }) => resultType)).toEqual(Array.from(types, () => 'complete'))
  })
})
