import type { ServerEvent, ServerExtension } from '@x/exchange'
import { type Tool, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { accept, createFleet, createGate, type Fleet } from '../../testing/fleet.ts'
import { tools } from '../../testing/tools.ts'
import { digestTaskId } from '../task-digest.ts'

function addObserved(fleet: Fleet, offered: readonly Tool[] = tools) {
  const events: ServerEvent[] = []
  const observer: ServerExtension = {
    extends: 'server',
    name: 'observer',
    start: () => ({ observe: (event) => void (event.type.startsWith('attempt_') && events.push(event)) }),
  }
  return { events, instance: fleet.add(offered, {}, { extensions: [observer], strictReplay: false }) }
}

describe('The events of an attempt', () => {
  test.each([
    ['tell', 'completed'],
    ['fail', 'completed'],
    ['break', 'failed'],
  ] as const)('of "%s" have the end %s', async (name, end) => {
    const { events, instance } = addObserved(createFleet())
    const taskId = await instance.start(name)
    await instance.reach(taskId, end)
    await expect.poll(() => events.length).toBe(2)
    const subject = { taskDigest: digestTaskId(taskId), tool: name, attempt: 1 }
    expect(events).toMatchObject([
      { type: 'attempt_started', ...subject, failures: 0, entryCount: 0 },
      { type: 'attempt_ended', ...subject, end },
    ])
  })

  test('of a task with a question are those of two attempts', async () => {
    const { events, instance } = addObserved(createFleet())
    const taskId = await instance.start('ask')
    await instance.reach(taskId, 'input_required')
    const inputResponses = { one: accept({ name: 'ada' }), two: accept({ name: 'bob' }) }
    await instance.result('tasks/update', { taskId, inputResponses })
    await instance.reach(taskId, 'completed')
    await expect.poll(() => events.length).toBe(4)
    expect(events.map((event) => (event.type === 'attempt_ended' ? event.end : event.type))).toEqual([
      'attempt_started',
      'suspended',
      'attempt_started',
      'completed',
    ])
  })

  test('of a task whose journal has no room for a question have the end failed, and not lost', async () => {
    const full = tool('full', {
      description: 'Fills the journal, and then asks',
      task: 'required',
      run: async (_, ctx) => {
        await ctx.step('scan', () => 'x'.repeat(3_999_850))
        return (await ctx.elicit('who', { message: 'Who?', schema: z.object({ name: z.string() }) })).name
      },
    })
    const { events, instance } = addObserved(createFleet(), [full])
    const taskId = await instance.start('full')
    await instance.reach(taskId, 'failed')
    await expect.poll(() => events.length).toBe(2)
    expect(events[1]).toMatchObject({ type: 'attempt_ended', end: 'failed' })
  })

  test('of a cancelled task have the end cancelled', async () => {
    const { events, instance } = addObserved(createFleet())
    const taskId = await instance.start('work')
    await expect.poll(() => events.length).toBe(1)
    await instance.result('tasks/cancel', { taskId })
    await instance.reach(taskId, 'cancelled')
    await expect.poll(() => events.length).toBe(2)
    expect(events[1]).toMatchObject({ type: 'attempt_ended', taskDigest: digestTaskId(taskId), end: 'cancelled' })
  })

  test('of a task that another instance took over have a failure, and the end lost: no further step begins', async () => {
    const gate = createGate()
    let isFurther = false
    const hang = tool('hang', {
      description: 'Hangs',
      task: 'required',
      run: async (_, ctx) => {
        await ctx.step('one', () => gate.pass().then(() => 1))
        await ctx.step('two', () => (isFurther = true))
        return 'late'
      },
    })
    const quick = tool('hang', { description: 'Ends', task: 'required', run: () => 'done' })
    const fleet = createFleet()
    const first = addObserved(fleet, [hang])
    const taskId = await first.instance.start('hang')
    await gate.reached
    fleet.pass(fleet.engine.leaseMs + 1)
    const second = addObserved(fleet, [quick])
    await second.instance.reach(taskId, 'completed')
    gate.open()
    await expect.poll(() => [first.events.length, second.events.length]).toEqual([2, 2])
    expect(first.events[1]).toMatchObject({ type: 'attempt_ended', attempt: 1, end: 'lost' })
    expect(isFurther).toBe(false)
    expect(second.events).toMatchObject([
      { type: 'attempt_started', attempt: 2, failures: 1, waitedMs: 1 },
      { type: 'attempt_ended', attempt: 2, end: 'completed' },
    ])
  })
})
