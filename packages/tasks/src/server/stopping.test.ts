import { tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { TaskEngine } from '../engines/engine.ts'
import {
  accept,
  sendTaskAnswer,
  createFleet,
  createGate,
  replayModes,
  createWorkRecorder,
  textOf,
} from '../testing/fleet.ts'

const named = z.object({ name: z.string().min(2) })

describe('a server that stops', () => {
  const stepping = (work: (what: string) => string, shut: ReturnType<typeof createGate>) =>
    tool('steps', {
      description: 'Works in steps',
      task: 'required',
      run: async (_, ctx) => {
        await ctx.step('one', async () => {
          await shut.pass()
          return work('one')
        })
        return ctx.step('two', () => work('two'))
      },
    })

  test.each(replayModes)(
    'releases its tasks at the end of their step, so that others continue them at once ($strictReplay)',
    async (definition) => {
      const { done, work } = createWorkRecorder()
      const shut = createGate()
      const fleet = createFleet()
      const tools = [stepping(work, shut)]
      const stopping = fleet.add(tools, {}, definition)
      const taskId = await stopping.start('steps')
      await shut.reached
      const takeBack = stopping.server.drain()
      const closed = stopping.server.close()
      const other = fleet.add(tools, {}, definition)
      shut.open()
      await closed
      expect(textOf((await other.reach(taskId, 'completed')).result)).toBe('two')
      expect([done, stopping.server.tasks.running, stopping.server.load.draining]).toEqual([['one', 'two'], 0, true])
      expect(stopping.errors).toEqual([])
      takeBack()
      expect(stopping.server.load.draining).toBe(false)
    },
  )

  test('runs no task once it is closed, and says that the call has not begun', async () => {
    const run = (): string => 'done'
    const tools = (['required', 'allowed'] as const).map((task) => tool(task, { description: 'Works', task, run }))
    const { server, error, result } = createFleet().add(tools)
    await server.close()
    expect(await error('tools/call', { name: 'required' })).toMatchObject({
      message: expect.stringContaining('The server was closed here'),
      data: { begun: false, permanent: true },
    })
    expect(textOf(await result('tools/call', { name: 'allowed' }))).toBe('done')
  })

  test('releases a task after the grace period if its step does not end', async () => {
    const { done, work } = createWorkRecorder()
    const [shut, signals] = [createGate(), [] as string[]]
    let first = true
    const deaf = tool('deaf', {
      description: 'Does not listen',
      task: 'required',
      run: (_, ctx) =>
        ctx.step('one', async ({ signal }) => {
          signal.addEventListener('abort', () => signals.push(String(signal.reason)))
          if (first) {
            first = false
            await shut.pass()
          }
          return work('one')
        }),
    })
    const fleet = createFleet()
    const stopping = fleet.add([deaf], {}, { strictReplay: false })
    const taskId = await stopping.start('deaf')
    await shut.reached
    const closed = stopping.server.close({ graceMs: 3000 })
    stopping.clock.advance(3000)
    await new Promise(setImmediate)
    stopping.clock.advance(1000)
    await closed
    const other = fleet.add([deaf], {}, { strictReplay: false })
    expect(textOf((await other.reach(taskId, 'completed')).result)).toBe('one')
    expect([done, signals]).toEqual([
      ['one'],
      ['Suspension: The task continues at another instance, because this process stops'],
    ])
    shut.open()
    while (stopping.server.tasks.running > 0) await new Promise(setImmediate)
    expect(stopping.clock.waiting).toBe(0)
  })

  test('releases the tasks of a claim that was pending, before it closes the engine', async () => {
    const { done, work } = createWorkRecorder()
    const claim = createGate()
    const calls: string[] = []
    let isFirst = true
    const around = (engine: TaskEngine): TaskEngine => ({
      ...engine,
      claim: async (request) => {
        const claimed = await engine.claim(request)
        if (isFirst && claimed.tasks.length > 0) {
          isFirst = false
          await claim.pass()
          calls.push('claimed')
        }
        return claimed
      },
      release: async (lease, taskRelease) => {
        calls.push('released')
        return engine.release(lease, taskRelease)
      },
      close: async () => {
        calls.push('closed')
      },
    })
    const steps = tool('steps', {
      description: 'Works',
      task: 'required',
      run: (_, ctx) => ctx.step('one', () => work('one')),
    })
    const fleet = createFleet(around)
    const stopping = fleet.add([steps])
    const taskId = await stopping.start('steps')
    await claim.reached
    const closed = stopping.server.close()
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
    expect(calls).toEqual([])
    claim.open()
    await closed
    expect(calls).toEqual(['claimed', 'released', 'closed'])
    const other = fleet.add([steps])
    expect(textOf((await other.reach(taskId, 'completed')).result)).toBe('one')
    expect([done, stopping.errors]).toEqual([['one'], []])
  })
})

describe('a new version', () => {
  test('continues a task of an old version, and keeps the entries that it does not know for the old version', async () => {
    const old = tool('change', {
      description: 'The old version',
      task: 'required',
      run: async (_, ctx) => {
        const step = await ctx.step('old', () => 'by the old')
        const { name } = await ctx.elicit('who', { message: 'For whom?', schema: named })
        return `${step}, ${name}`
      },
    })
    const young = tool('change', {
      description: 'The new version',
      task: 'required',
      run: async (_, ctx) => {
        const { name } = await ctx.elicit('who', { message: 'For whom?', schema: named })
        const step = await ctx.step('old', () => 'by the new')
        return `${step}, ${name}, ${await ctx.step('new', () => 'by the new')}`
      },
    })
    const fleet = createFleet()
    const before = fleet.add([old])
    const taskId = await before.start('change')
    await before.reach(taskId, 'input_required')
    await before.server.close()
    const after = fleet.add([young])
    await sendTaskAnswer(after, taskId, { who: accept({ name: 'Ada' }) })
    expect(textOf((await after.reach(taskId, 'completed')).result)).toBe('by the old, Ada, by the new')
  })
})
