import type { ServerEvent, ServerExtension } from '@x/exchange'
import { errorCodes } from '@x/schema'
import { type Context, isSuspension, tool } from '@x/server'
import { taskAcknowledgement } from '@x/tasks/zod'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { accept, createFleet, createGate, type Instance, textOf } from '../testing/fleet.ts'
import { tools } from '../testing/tools.ts'

describe('tasks/update sends answers', () => {
  const one = { one: accept({ name: 'Ada' }) }
  const two = { two: accept({ name: 'Grace' }) }

  test('all at once, or some of them, which the next state reflects [TSK-034 TSK-035 TSK-039]', async () => {
    const { start, reach, result, see } = createFleet().add(tools)
    const taskId = await start('ask')
    await reach(taskId, 'input_required')
    const acknowledged = await result('tasks/update', { taskId, inputResponses: one })
    expect(taskAcknowledgement.parse(acknowledged)).toEqual(acknowledged)
    expect(Object.keys(acknowledged).toSorted()).toEqual(['_meta', 'resultType'])
    expect(acknowledged.resultType).toBe('complete')
    const between = await see(taskId)
    expect([between.status, Object.keys(between.inputRequests ?? {})]).toEqual(['input_required', ['two']])
    await result('tasks/update', { taskId, inputResponses: two })
    expect(textOf((await reach(taskId, 'completed')).result)).toBe('Ada and Grace')
  })

  test.each<[string, object]>([
    ['keys without a request', { three: accept({ name: 'Eve' }), ['__proto__']: accept({ name: 'Eve' }) }],
    ['keys without a request and any values', { three: 'nonsense', four: {} }],
    ['keys that were answered before', { one: accept({ name: 'Eve' }) }],
  ])('and %s are ignored [TSK-038]', async (_title, inputResponses) => {
    const { start, reach, result } = createFleet().add(tools)
    const taskId = await start('ask')
    await reach(taskId, 'input_required')
    await result('tasks/update', { taskId, inputResponses: one })
    const before = await reach(taskId, 'input_required')
    expect((await result('tasks/update', { taskId, inputResponses: { ...inputResponses } })).resultType).toBe(
      'complete',
    )
    expect(await reach(taskId, 'input_required')).toEqual(before)
    await result('tasks/update', { taskId, inputResponses: { ...inputResponses, ...two } })
    expect(textOf((await reach(taskId, 'completed')).result)).toBe('Ada and Grace')
  })

  test.each<[string, unknown, string]>([
    ['none', undefined, 'params.inputResponses must be an object of answers, got nothing'],
    ['a list', [], 'params.inputResponses must be an object of answers, got an array'],
    ['an invalid answer', { one: { action: 'maybe' } }, 'params.inputResponses.one.action must be one of'],
  ])('but not %s', async (_title, inputResponses, message) => {
    const { start, reach, error } = createFleet().add(tools)
    const taskId = await start('ask')
    await reach(taskId, 'input_required')
    const params = JSON.parse(JSON.stringify({ taskId, inputResponses }))
    expect(await error('tasks/update', params)).toMatchObject({
      code: errorCodes.invalidParams,
      message: expect.stringContaining(message),
    })
  })
})

describe('tasks/cancel', () => {
  test('is acknowledged, and aborts the signal of the handler [TSK-041 TSK-043]', async () => {
    const { start, reach, result } = createFleet().add(tools)
    const taskId = await start('work')
    const acknowledged = await result('tasks/cancel', { taskId })
    expect(taskAcknowledgement.parse(acknowledged)).toEqual(acknowledged)
    expect(Object.keys(acknowledged).toSorted()).toEqual(['_meta', 'resultType'])
    expect((await reach(taskId, 'cancelled')).resultType).toBe('complete')
  })

  test.each(['ask', 'greet'])(
    'is acknowledged for a task that waits or has ended (%s), and does not change an ended task',
    async (name) => {
      const { start, reach, result } = createFleet().add(tools)
      const taskId = await start(name)
      const { status } = await reach(taskId, ({ status }) => status !== 'working')
      await result('tasks/cancel', { taskId })
      const after = await reach(taskId, ({ status }) => status !== 'working')
      expect([status, after.status]).toEqual(
        name === 'ask' ? ['input_required', 'cancelled'] : ['completed', 'completed'],
      )
      expect(after).not.toHaveProperty('inputRequests')
      expect((await result('tasks/cancel', { taskId })).resultType).toBe('complete')
    },
  )

  test('reaches the handler at any instance', async () => {
    const fleet = createFleet()
    const worker = fleet.add(tools)
    const other = fleet.add(tools, { runWorker: false })
    const taskId = await other.start('work')
    expect(worker.server.tasks.running).toBe(1)
    await other.result('tasks/cancel', { taskId })
    expect((await other.reach(taskId, 'cancelled')).status).toBe('cancelled')
  })

  test('ends a task after the grace period if its handler ignores the signal, and later writes of the handler have no effect', async () => {
    const shut = createGate()
    const deaf = tool('deaf', {
      description: 'Does not listen',
      task: 'allowed',
      run: async (_, ctx) => {
        ctx.progress(1, 2, 'Still deaf')
        await shut.pass()
        return ctx.step('late', () => 'Done after all')
      },
    })
    const { start, reach, result, see, clock } = createFleet().add([deaf])
    const taskId = await start('deaf')
    await shut.reached
    clock.advance(500)
    await reach(taskId, ({ statusMessage }) => statusMessage === 'Still deaf')
    await result('tasks/cancel', { taskId })
    clock.advance(4999)
    expect((await see(taskId)).status).toBe('working')
    clock.advance(1)
    const cancelled = await reach(taskId, 'cancelled')
    expect(cancelled).not.toHaveProperty('statusMessage')
    shut.open()
    await new Promise(setImmediate)
    expect(await see(taskId)).toEqual(cancelled)
  })

  test('does not replace the result of a handler that ends before it', async () => {
    const shut = createGate()
    const deaf = tool('deaf', {
      description: 'x',
      task: 'allowed',
      run: () => shut.pass().then(() => 'Done after all'),
    })
    const { start, reach, result } = createFleet().add([deaf])
    const taskId = await start('deaf')
    await shut.reached
    await result('tasks/cancel', { taskId })
    shut.open()
    expect(textOf((await reach(taskId, 'completed')).result)).toBe('Done after all')
  })

  test.each<[string, (ctx: Context) => Promise<unknown>]>([
    ['a step', (ctx) => ctx.step('a', () => 'a')],
    ['a checkpoint', (ctx) => ctx.checkpoint('a', 0).save(1)],
    ['a question', (ctx) => ctx.elicit('a', { message: 'A?', schema: z.object({}) })],
  ])('leaves no result of a handler that catches what %s throws after it, and returns', async (_, use) => {
    const shut = createGate()
    const stubborn = tool('stubborn', {
      description: 'x',
      task: 'required',
      run: async (_args, ctx) => {
        await shut.pass()
        return use(ctx).then(
          () => 'went on',
          () => 'caught',
        )
      },
    })
    const { start, reach, result } = createFleet().add([stubborn], {}, { strictReplay: false })
    const taskId = await start('stubborn')
    await shut.reached
    await result('tasks/cancel', { taskId })
    shut.open()
    expect((await reach(taskId, ({ status }) => status !== 'working')).status).toBe('cancelled')
  })

  type Stop = (instance: Instance, taskId: string) => Promise<unknown>
  const ways: [string, boolean, Stop][] = [
    ['is cancelled', false, (instance, taskId) => instance.result('tasks/cancel', { taskId })],
    ['is taken by an operator', true, (instance, taskId) => instance.server.tasks.revoke(taskId)],
    ['is left by a process that stops', true, async ({ server }) => void server.close()],
  ]
  describe.each(ways)('a handler whose task %s', (_, isContinued, stop) => {
    test.each([true, false])('knows whether to undo its step, which heeds the signal: %s', async (isHeeding) => {
      const running = createGate()
      const seen: boolean[] = []
      const pay = tool('pay', {
        description: 'Pays',
        task: 'required',
        run: async (_, ctx) => {
          try {
            return await ctx.step('pay', async ({ signal }) => {
              await running.pass()
              if (isHeeding) signal.throwIfAborted()
              return 'paid'
            })
          } catch (error) {
            seen.push(isSuspension(error), isSuspension(ctx.signal.reason))
            throw error
          }
        },
      })
      const ends: string[] = []
      const observe = (event: ServerEvent): void => void (event.type === 'run' && ends.push(event.end))
      const observer: ServerExtension<'observer'> = { extends: 'server', name: 'observer', start: () => ({ observe }) }
      const instance = createFleet().add([pay], {}, { strictReplay: false, extensions: [observer] })
      const taskId = await instance.start('pay')
      await running.reached
      await stop(instance, taskId)
      instance.clock.advance(10_000)
      await new Promise(setImmediate)
      running.open()
      await expect.poll(() => seen).toEqual([isContinued, isContinued])
      await expect.poll(() => ends[1]).toBe(isContinued ? 'handed_off' : 'cancelled')
    })
  })
})
