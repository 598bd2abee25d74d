import { errorCodes, projectMetaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { greetAdaParams, createFleet, createGreetTool } from '../testing/fleet.ts'

describe('a call with an idempotency key', () => {
  const key = 'AAAAAAAAAAAAAAAAAAAAAA'
  const meta = { [projectMetaKeys.idempotencyKey]: key }
  const principal = { subject: 'ada', issuer: 'https://id.test' }

  test('that is sent again returns the same task at any instance, and creates no other', async () => {
    const fleet = createFleet()
    const instances = [fleet.add([createGreetTool('required')]), fleet.add([createGreetTool('required')])]
    const ids = []
    for (const { start } of [...instances, ...instances])
      ids.push(await start('greet', { name: 'Ada' }, { meta, principal }))
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).toMatch(/^[\da-f]{40}$/)
  })

  test('that is sent several times at once creates one task', async () => {
    const fleet = createFleet()
    const instance = fleet.add([createGreetTool('required')])
    const ids = await Promise.all(Array.from({ length: 8 }, () => instance.start('greet', { name: 'Ada' }, { meta })))
    expect(new Set(ids).size).toBe(1)
  })

  test('that is sent again after its task has ended returns that task', async () => {
    const { result, start, reach } = createFleet().add([createGreetTool('required')])
    const id = await start('greet', { name: 'Ada' }, { meta })
    await reach(id, 'completed')
    const again = await result('tools/call', greetAdaParams, { meta })
    expect(again).toMatchObject({ resultType: 'task', taskId: id, status: 'completed' })
  })

  test('that is sent again by a caller at its limit of tasks returns its task', async () => {
    const { error, start } = createFleet().add(
      [createGreetTool('required')],
      { runWorker: false },
      { limits: { tasks: 1 } },
    )
    const id = await start('greet', { name: 'Ada' }, { meta })
    expect(await start('greet', { name: 'Ada' }, { meta })).toBe(id)
    expect(await error('tools/call', greetAdaParams)).toMatchObject({ data: { limit: 'tasks' } })
  })

  test.each([
    ['another key', { meta: { [projectMetaKeys.idempotencyKey]: `${key.slice(1)}Q` }, principal }],
    ['no key', { principal }],
    ['another principal', { meta, principal: { ...principal, subject: 'mallory' } }],
    ['no principal', { meta }],
  ])('and a call with %s have different tasks', async (_title, options) => {
    const { start } = createFleet().add([createGreetTool('required')])
    const id = await start('greet', { name: 'Ada' }, { meta, principal })
    expect(await start('greet', { name: 'Ada' }, options)).not.toBe(id)
  })

  test('and a call with other arguments have different tasks', async () => {
    const { start } = createFleet().add([createGreetTool('required')])
    const id = await start('greet', { name: 'Ada' }, { meta, principal })
    expect(await start('greet', { name: 'Bob' }, { meta, principal })).not.toBe(id)
  })

  test('whose creation fails receives an error that asks to repeat it, and then the task if it was created', async () => {
    let isAway = true
    const whenThere = <T>(value: T): T => {
      if (isAway) throw new Error('no connection')
      return value
    }
    const fleet = createFleet((engine) => ({
      ...engine,
      get: async (id, owner) => (isAway ? undefined : engine.get(id, owner)),
      create: async (task) => whenThere(await engine.create(task)),
    }))
    const { error, errors, start } = fleet.add([createGreetTool('required')])
    expect(await error('tools/call', greetAdaParams, { meta })).toMatchObject({
      code: errorCodes.internal,
      data: { reason: 'unavailable', retryAfterMs: 1000 },
    })
    expect(errors).toMatchObject([{ message: 'no connection' }])
    isAway = false
    const id = await start('greet', { name: 'Ada' }, { meta })
    expect(await start('greet', { name: 'Ada' }, { meta })).toBe(id)
  })
})

test('a call without an idempotency key whose task cannot be stored receives an error that does not ask to repeat it', async () => {
  const fleet = createFleet((engine) => ({ ...engine, create: () => Promise.reject(new Error('no connection')) }))
  const error = await fleet.add([createGreetTool('required')]).error('tools/call', greetAdaParams)
  expect(error).toEqual({ code: errorCodes.internal, message: 'Internal error' })
})
