import { createGate } from '@tooling/vitest/gate'
import { sessionsClient } from '@x/sessions/client'
import { type TasksClient, type TaskHandle, tasksClient } from '@x/tasks/client'
import { describe, expect, test } from 'vitest'
import { same, testFleet, type TestFleetOptions, type View } from '../testing/test-fleet.ts'
import { textOf } from '../walk-through/connect.ts'

const withTasks = (options?: TestFleetOptions) => testFleet({ ...options, extensions: [tasksClient()] })
const resolve = (...ids: readonly number[]) => ({ ids: [...ids], fields: { 'System.State': 'Resolved' } })

describe('a task', () => {
  test('takes more than a call, and says when even that is too much', async () => {
    await using fixture = await withTasks()
    const ids = Array.from({ length: 199 }, (_, index) => index + 1)
    const result = await fixture.client.callTool('update_work_items', resolve(...ids, 4601))
    expect(textOf(result)[0]).toBe('1 of 200 work items was changed: User Story #4601.')
  })

  test('that is cancelled stops between two work items, and keeps its changes so far', async () => {
    const gate = hangingAt(4603)
    await using fixture = await withTasks({ views: [gate.view] })
    const task = await begin(fixture.client, resolve(4601, 4602, 4603, 4604))
    await gate.reached
    await task.cancel()
    await expect(task.result()).rejects.toMatchObject({ name: 'TaskError', code: 'cancelled' })
    expect(await fixture.revisions(4601, 4602, 4604)).toEqual([4, 3, 2])
  })

  test('continues at another instance: a change that was written and not recorded is reported, and written once', async () => {
    const gate = hangingAt(4602)
    await using fixture = await withTasks({ views: [gate.view, same] })
    const [first, second] = fixture.client.instances
    // Only the first instance runs tasks while the second is drained.
    const resume = second?.drain()
    const task = await begin(fixture.client, resolve(4601, 4602, 4603))
    await gate.reached
    await first?.close({ graceMs: 1 })
    resume?.()
    expect(textOf(await task.result())).toEqual([
      '3 of 3 work items were changed: User Story #4601, User Story #4602, User Story #4603.',
    ])
    expect(await fixture.revisions(4601, 4602, 4603)).toEqual([4, 3, 5])
  })

  test('begins within a session, asks its user there, and leaves the conversation as it was', async () => {
    const answers = { resolution: { resolution: 'Fixed' } }
    await using fixture = await testFleet({ answers, extensions: [tasksClient(), sessionsClient()] })
    await using session = await fixture.client.sessions.create()
    await session.callTool('get_work_item', { workItemId: 4517 })
    const result = await session.callTool('update_work_items', resolve(4609, 4601))
    expect(textOf(result)).toEqual(['2 of 2 work items were changed: Bug #4609, User Story #4601.'])
    expect(fixture.asked()).toHaveLength(1)
    const after = await session.callTool('update_last_work_item', { fields: { 'System.Tags': 'seen' } })
    expect(textOf(after).join()).toContain('Bug #4517 was changed')
  })
})

/** Simulates a service that makes the change of one work item but never responds. */
function hangingAt(hanging: number) {
  const gate = createGate()
  const view: View = (azureDevOps) => ({
    ...azureDevOps,
    updateWorkItem: async (id, change, signal) => {
      const item = await azureDevOps.updateWorkItem(id, change, signal)
      if (id !== hanging) return item
      gate.open()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  return { view, reached: gate.opened }
}

async function begin(client: { readonly tasks: TasksClient }, args: ReturnType<typeof resolve>): Promise<TaskHandle> {
  const started = await client.tasks.start('update_work_items', args)
  if (started.status === 'complete') throw new Error('it should continue as a task')
  return started.task
}
