import type { JsonObject, RpcNotification } from '@x/schema'
import { describe, expect, test } from 'vitest'
import {
  createInputRequiredTask,
  beginTask,
  completedTaskResult,
  toGetTaskResult,
  outcome,
  type ReceivedRequest,
  createTextResult,
  type Script,
  scriptedTasks,
  type ScriptedTasks,
  flushAsyncWork,
  createTaskState,
} from '../testing/scripted-tasks.ts'

const listening = { tasks: { follow: 'listen' } } as const

/** A stream that the test controls. */
interface Stream {
  notify(method: string, params?: JsonObject): void
  acknowledge(taskIds?: readonly string[]): void
  changed(task: JsonObject): void
  end(): void
  refuse(code: number): void
}

function streams(): { readonly script: Script; readonly opened: Stream[] } {
  const opened: Stream[] = []
  const open = ({ call, id }: ReceivedRequest): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true })
      const notify = (method: string, params: JsonObject = {}): void => {
        const message: RpcNotification = {
          jsonrpc: '2.0',
          method,
          params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, ...params },
        }
        call.notify(message)
      }
      opened.push({
        notify,
        acknowledge: (taskIds = ['task-1']) =>
          notify('notifications/subscriptions/acknowledged', { notifications: { taskIds: [...taskIds] } }),
        changed: (task) => notify('notifications/tasks', task),
        end: () => resolve({ resultType: 'complete' }),
        refuse: (code) => reject(Object.assign(new Error('refused'), { code })),
      })
    })
  return { script: [open], opened }
}

function last(opened: readonly Stream[]): Stream {
  const stream = opened.at(-1)
  if (stream) return stream
  throw new Error('no stream was opened')
}

const looks = ({ of }: ScriptedTasks): number[] => of('tasks/get').map(({ at }) => at)

describe('A client that listens', () => {
  test('subscribes to the one task, and uses the notified states', async () => {
    const { script, opened } = streams()
    const scripted = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const { client, clock, of, pass } = scripted
    const result = client.callTool('work')
    await flushAsyncWork()
    last(opened).acknowledge()
    await pass(500)
    const before = looks(scripted).length
    last(opened).changed(createTaskState('working', { statusMessage: 'reading' }))
    await flushAsyncWork()
    last(opened).changed(createTaskState('completed', { result: createTextResult('told') }))
    expect(await result).toEqual(createTextResult('told'))
    expect(of('subscriptions/listen').map(({ params }) => params)).toEqual([{ notifications: { taskIds: ['task-1'] } }])
    expect(looks(scripted)).toHaveLength(before)
    expect(clock.waiting).toBe(0)
  })

  test('answers requests for input in notifications [TSK-028]', async () => {
    const { script, opened } = streams()
    const { client, of, pass } = scriptedTasks(
      { 'subscriptions/listen': script },
      { ...listening, client: { elicit: () => ({ action: 'decline' }) } },
    )
    const result = client.callTool('work')
    await flushAsyncWork()
    last(opened).acknowledge()
    await pass(10)
    const { resultType: _, ...asked } = createInputRequiredTask('one')
    last(opened).changed(asked)
    await flushAsyncWork()
    expect(of('tasks/update').map(({ params }) => params['inputResponses'])).toEqual([{ one: { action: 'decline' } }])
    last(opened).changed(createTaskState('completed', { result: createTextResult('told') }))
    expect(await result).toEqual(createTextResult('told'))
  })

  test('polls rarely while a stream is open, because a notification may be lost', async () => {
    const { script, opened } = streams()
    const scripted = scriptedTasks(
      { 'subscriptions/listen': script, 'tasks/get': [toGetTaskResult('working'), completedTaskResult] },
      listening,
    )
    const result = scripted.client.callTool('work')
    await flushAsyncWork()
    last(opened).acknowledge()
    await scripted.pass(1000, 30)
    expect(await result).toEqual(createTextResult('done'))
    expect(looks(scripted)).toEqual([0, 30_000])
  })

  test('reads again if the stream opened during a read, which may have missed what came in between', async () => {
    const { script, opened } = streams()
    let answerRead = (_state: JsonObject): void => {}
    const firstRead = new Promise<JsonObject>((resolve) => {
      answerRead = resolve
    })
    const scripted = scriptedTasks(
      { 'subscriptions/listen': script, 'tasks/get': [firstRead, completedTaskResult] },
      listening,
    )
    const result = (await beginTask(scripted.client)).result()
    await scripted.pass(1000)
    last(opened).acknowledge()
    answerRead(toGetTaskResult('working'))
    await flushAsyncWork()
    expect(looks(scripted)).toEqual([1000, 1000])
    expect(await result).toEqual(createTextResult('done'))
  })

  test('polls at the usual interval without a stream, and opens the stream again after growing pauses', async () => {
    const { script, opened } = streams()
    const scripted = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const result = scripted.client.callTool('work')
    for (let round = 0; round < 3; round += 1) {
      await flushAsyncWork()
      last(opened).acknowledge()
      await flushAsyncWork()
      last(opened).end()
      await scripted.pass(1000, 2 ** round)
    }
    await flushAsyncWork()
    expect(scripted.of('subscriptions/listen').map(({ at }) => at)).toEqual([0, 1000, 3000, 7000])
    expect(looks(scripted).filter((at) => at > 3000)).toEqual([4000, 5000, 6000, 7000])
    last(opened).acknowledge()
    await flushAsyncWork()
    last(opened).changed(createTaskState('completed', { result: createTextResult('told') }))
    expect(await result).toEqual(createTextResult('told'))
  })

  test('opens a stream that was open for a while again after a short pause, independent of earlier failures', async () => {
    const { script, opened } = streams()
    const scripted = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const result = scripted.client.callTool('work')
    for (const [openMs, pauseMs] of [
      [0, 1000],
      [0, 2000],
      [30_000, 1000],
      [29_999, 2000],
    ] as const) {
      await flushAsyncWork()
      last(opened).acknowledge()
      await scripted.pass(openMs)
      last(opened).end()
      await scripted.pass(pauseMs - 1)
      const before = opened.length
      await scripted.pass(1)
      expect(opened).toHaveLength(before + 1)
    }
    last(opened).acknowledge()
    await flushAsyncWork()
    last(opened).changed(createTaskState('completed', { result: createTextResult('told') }))
    expect(await result).toEqual(createTextResult('told'))
  })

  test.each<[string, (opened: Stream) => void]>([
    ['acknowledges only other tasks', (stream) => stream.acknowledge(['task-2'])],
    [
      'acknowledges no tasks',
      (stream) => stream.notify('notifications/subscriptions/acknowledged', { notifications: {} }),
    ],
  ])('only polls if the server %s', async (_title, answer) => {
    const { script, opened } = streams()
    const scripted = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const result = outcome(scripted.client.callTool('work', {}, { timeoutMs: 500_000 }))
    await flushAsyncWork()
    answer(last(opened))
    await scripted.pass(1000, 60)
    expect(scripted.of('subscriptions/listen')).toHaveLength(1)
    expect(looks(scripted)).toHaveLength(60)
    void result
  })

  test('only polls if the server does not support subscriptions', async () => {
    const scripted = scriptedTasks({ 'tasks/get': [toGetTaskResult('working'), completedTaskResult] }, listening)
    const result = scripted.client.callTool('work')
    await scripted.pass(1000, 2)
    expect(await result).toEqual(createTextResult('done'))
    expect(scripted.of('subscriptions/listen')).toHaveLength(1)
  })

  test.each<[string, (stream: Stream) => void]>([
    ['is about another task', (stream) => stream.changed({ ...createTaskState('cancelled'), taskId: 'task-2' })],
    ['is not a valid state', (stream) => stream.changed({ taskId: 'task-1', status: 'cancelled' })],
    ['is of another kind', (stream) => stream.notify('notifications/tasks/other', createTaskState('cancelled'))],
    ['has another subscription', (stream) => stream.changed({ ...createTaskState('cancelled'), _meta: {} })],
    ['is older than the known state', (stream) => stream.changed(createTaskState('working', old))],
  ])('ignores a notification that %s', async (_title, notify) => {
    const { script, opened } = streams()
    const { client, pass } = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const seen: string[] = []
    const task = await beginTask(client)
    const iterating = (async () => {
      for await (const { status, statusMessage = '' } of task) seen.push(`${status} ${statusMessage}`.trim())
    })()
    await flushAsyncWork()
    last(opened).acknowledge()
    await pass(100)
    notify(last(opened))
    await pass(100)
    last(opened).changed(createTaskState('completed', { result: createTextResult('told') }))
    await iterating
    expect(seen).toEqual(['working', 'completed'])
  })

  test('ignores notifications before the stream was acknowledged', async () => {
    const { script, opened } = streams()
    const scripted = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const result = scripted.client.callTool('work')
    await flushAsyncWork()
    last(opened).changed(createTaskState('cancelled'))
    await scripted.pass(10)
    last(opened).acknowledge()
    await flushAsyncWork()
    last(opened).changed(createTaskState('completed', { result: createTextResult('told') }))
    expect(await result).toEqual(createTextResult('told'))
  })

  test('closes its stream when the wait ends', async () => {
    const { script } = streams()
    const { client, clock, of, pass } = scriptedTasks({ 'subscriptions/listen': script }, listening)
    const controller = new AbortController()
    const result = outcome(client.callTool('work', {}, { signal: controller.signal }))
    await pass(10)
    controller.abort('enough')
    expect(await result).toEqual({ error: 'enough' })
    await flushAsyncWork()
    expect(of('subscriptions/listen')[0]?.call.signal.aborted).toBe(true)
    expect(clock.waiting).toBe(0)
  })
})

const old = { lastUpdatedAt: '2026-07-28T09:00:00Z', statusMessage: 'long ago' }
