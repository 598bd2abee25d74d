import { errorCodes, isJsonObject, type JsonObject, type RpcNotification } from '@x/schema'
import { memoryBus, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { accept, createFleet, createGate, type Instance, type AskOptions, plain } from '../testing/fleet.ts'
import { tools } from '../testing/tools.ts'

/** A stream of a test: its messages, and its expected messages. */
function listen(instance: Instance, notifications: JsonObject, options: AskOptions = {}) {
  const controller = new AbortController()
  const heard: RpcNotification[] = []
  const waiting = new Set<() => void>()
  const notify = (message: RpcNotification): void => {
    heard.push(message)
    for (const look of waiting) look()
  }
  const ended = instance.ask(
    'subscriptions/listen',
    { notifications },
    { ...options, notify, signal: controller.signal },
  )
  const until = (isIt: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (isIt()) resolve()
      }
      waiting.add(look)
      look()
    })
  const states = (): unknown[] =>
    heard.filter(({ method }) => method === 'notifications/tasks').map(({ params }) => params?.['status'])
  return { heard, ended, until, states, stop: () => controller.abort() }
}

describe('subscriptions/listen with tasks', () => {
  test('follows 10,000 tasks of one caller, known or not, and those of another caller beside them [LDG-001 LDG-003]', async () => {
    const instance = createFleet().add(tools)
    const idsOf = (stream: number): string[] => Array.from({ length: 1000 }, (_, index) => `task-${stream}-${index}`)
    const eve = { principal: { subject: 'eve' } }
    const streams = Array.from({ length: 10 }, (_, stream) => listen(instance, { taskIds: idsOf(stream) }, eve))
    const refused = await listen(instance, { taskIds: ['one-more'] }, eve).ended
    expect(refused).toMatchObject({ error: { data: { reason: 'quota', limit: 'topics', max: 10_000 } } })
    const other = listen(instance, { taskIds: idsOf(0) }, { principal: { subject: 'ada' } })
    await other.until(() => other.heard.length > 0)
    for (const { stop } of [...streams, other]) stop()
    for (const { ended } of [...streams, other]) expect(await ended).toHaveProperty('result')
    const again = listen(instance, { taskIds: ['one-more'] }, eve)
    await again.until(() => again.heard.length > 0)
    again.stop()
    await again.ended
  })

  test('acknowledges the tasks of the caller, and sends each as tasks/get returns it, at first and at every change [TSK-045 TSK-046]', async () => {
    const fleet = createFleet()
    const [instance, other] = [fleet.add(tools), fleet.add(tools)]
    const principal = { subject: 'ada' }
    const taskId = await instance.start('ask', {}, { principal })
    const foreign = await instance.start('ask', {}, { principal: { subject: 'eve' } })
    const asked = { taskIds: [taskId, foreign, 'nobody', taskId], toolsListChanged: true }
    const stream = listen(instance, asked, { principal })
    await stream.until(() => stream.states().includes('input_required'))
    expect(stream.heard[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true, taskIds: [taskId] } },
    })
    const { resultType: _type, _meta, ...seen } = await instance.see(taskId, { principal })
    const told = stream.heard.findLast(({ method }) => method === 'notifications/tasks')?.params ?? {}
    const { _meta: address, ...task } = told
    expect(task).toEqual(seen)
    expect(address).toEqual({ 'io.modelcontextprotocol/subscriptionId': expect.anything() })
    const inputResponses = { one: accept({ name: 'Ada' }), two: accept({ name: 'Grace' }) }
    await other.result('tasks/update', { taskId, inputResponses }, { principal })
    await stream.until(() => stream.states().includes('completed'))
    expect(new Set(stream.heard.slice(1).map(({ params }) => params?.['taskId']))).toEqual(new Set([taskId]))
    stream.stop()
    expect(await stream.ended).toHaveProperty('result')
  })

  test('is refused only for a client without the extension [TSK-044]', async () => {
    const instance = createFleet().add(tools)
    const taskId = await instance.start('work')
    const stream = listen(instance, { taskIds: [taskId] }, { capabilities: plain })
    expect(await stream.ended).toMatchObject({
      error: {
        code: errorCodes.missingRequiredClientCapability,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    })
    const other = listen(instance, { toolsListChanged: true }, { capabilities: plain })
    await other.until(() => other.heard.length === 1)
    expect(other.heard[0]?.params?.['notifications']).toEqual({ toolsListChanged: true })
    other.stop()
    await other.ended
  })

  test.each<[string, unknown, string]>([
    ['a value that is not a list', 'one', 'params.notifications.taskIds must be an array of strings'],
    ['a list of values that are not ids', [7], 'params.notifications.taskIds must be an array of strings'],
    [
      'too many',
      Array.from({ length: 1001 }, (_, index) => `${index}`),
      'params.notifications.taskIds has 1001 tasks; give at most 1000',
    ],
  ])('refuses %s', async (_title, taskIds, message) => {
    const { error } = createFleet().add(tools)
    const notifications = JSON.parse(JSON.stringify({ taskIds }))
    expect(await error('subscriptions/listen', { notifications })).toEqual({ code: errorCodes.invalidParams, message })
  })

  test('sends neither progress nor log messages [TSK-047]', async () => {
    const instance = createFleet().add(tools, {}, { strictReplay: false })
    const meta = { progressToken: 1, 'io.modelcontextprotocol/logLevel': 'debug' }
    const taskId = await instance.start('tell', {}, { meta })
    const stream = listen(instance, { taskIds: [taskId] }, { meta })
    await stream.until(() => stream.states().includes('completed'))
    expect(new Set(stream.heard.map(({ method }) => method))).toEqual(
      new Set(['notifications/subscriptions/acknowledged', 'notifications/tasks']),
    )
    expect(stream.heard.at(-1)?.params?.['_meta']).toEqual({
      'io.modelcontextprotocol/subscriptionId': expect.anything(),
      'dev.x/progress': { progress: 1, total: 2 },
    })
    stream.stop()
  })

  test('reads the tasks again after a gap of the bus, and stops listening to the bus without streams', async () => {
    const listeners = new Set<{ readonly onGap: () => void }>()
    const bus = {
      publish: () => Promise.reject(new Error('bus away')),
      listen: async (listener: { readonly onGap: () => void }) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    }
    const instance = createFleet((engine) => ({ ...engine, notifications: bus })).add(tools)
    const taskId = await instance.start('work')
    const stream = listen(instance, { taskIds: [taskId] })
    await stream.until(() => stream.states().length === 1)
    await instance.result('tasks/cancel', { taskId })
    while (instance.server.tasks.running > 0) await new Promise(setImmediate)
    for (const { onGap } of listeners) onGap()
    await stream.until(() => stream.states().length === 2)
    expect(stream.states()).toEqual(['working', 'cancelled'])
    stream.stop()
    await stream.ended
    await new Promise(setImmediate)
    expect([listeners.size, isJsonObject(instance.errors)]).toEqual([0, false])
    expect(instance.errors.every((error) => String(error) === 'Error: bus away')).toBe(true)
  })

  test('is refused while the bus is unreachable', async () => {
    const bus = { publish: async () => {}, listen: () => Promise.reject(new Error('bus away')) }
    const instance = createFleet((engine) => ({ ...engine, notifications: bus })).add(tools)
    const taskId = await instance.start('work')
    expect(await listen(instance, { taskIds: [taskId] }).ended).toMatchObject({ error: { code: errorCodes.internal } })
    expect(String(instance.errors[0])).toBe('Error: bus away')
  })
})

const withoutNotifications = () => createFleet(({ notifications: _, ...engine }) => engine)

describe.each([
  ['over an engine with notifications', createFleet, undefined, ['working', 'input_required', 'working', 'cancelled']],
  [
    'over an engine without, and the bus of the server',
    withoutNotifications,
    memoryBus(),
    ['working', 'input_required', 'working', 'cancelled'],
  ],
  // The state when the stream began.
  ['over an engine without, and no bus', withoutNotifications, undefined, ['working']],
] as const)('streams %s', (_title, createOne, bus, heard) => {
  test('receive the changes of other instances, if there is a bus', async () => {
    const fleet = createOne()
    const shut = createGate()
    const asking = tool('ask', {
      description: 'Asks, and works',
      task: 'required',
      run: async (_, ctx) => {
        await ctx.step('wait', () => shut.pass())
        await ctx.elicit('who', { message: 'Who?', schema: z.object({ name: z.string() }) })
        return ctx.step('work', () => new Promise<string>(() => {}))
      },
    })
    const here = fleet.add([asking], { runWorker: false }, { subscriptions: { bus } })
    const there = fleet.add([asking], {}, { strictReplay: false, subscriptions: { bus } })
    const taskId = await here.start('ask')
    await shut.reached
    const stream = listen(here, { taskIds: [taskId] })
    await stream.until(() => stream.states().length === 1)
    shut.open()
    while ((await here.see(taskId)).status === 'working') await new Promise(setImmediate)
    await new Promise(setImmediate)
    await there.result('tasks/update', { taskId, inputResponses: { who: accept({ name: 'Ada' }) } })
    while (there.server.tasks.running === 0) await new Promise(setImmediate)
    await there.result('tasks/cancel', { taskId })
    there.clock.advance(5000)
    while ((await here.see(taskId)).status !== 'cancelled') await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(stream.states()).toEqual(heard)
    stream.stop()
    await stream.ended
  })
})
