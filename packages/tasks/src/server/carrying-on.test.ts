import { errorCodes, type JsonObject } from '@x/schema'
import { inputRequired, tool } from '@x/server'
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

describe.each(replayModes)(
  'a task continues from its journal, with and without strict replay ($strictReplay)',
  (definition) => {
    test('its steps run once, its questions are asked once, and its UUIDs and its time do not change', async () => {
      const { done, work } = createWorkRecorder()
      const seen = new Set<string>()
      const order = tool('order', {
        description: 'Orders',
        task: 'required',
        run: async (_, ctx) => {
          seen.add(`${ctx.uuid('order')} ${ctx.now()}`)
          const plan = await ctx.step('plan', () => work('plan'))
          const { name } = await ctx.elicit('who', { message: 'For whom?', schema: named })
          const saved = await ctx.step('save', () => work(`save for ${name}`))
          return `${plan}, ${saved}`
        },
      })
      const fleet = createFleet()
      const [one, two] = [fleet.add([order], {}, definition), fleet.add([order], {}, definition)]
      const taskId = await one.start('order')
      const { inputRequests } = await two.reach(taskId, 'input_required')
      expect(Object.keys(inputRequests ?? {})).toEqual(['who'])
      await sendTaskAnswer(two, taskId, { who: accept({ name: 'Ada' }) })
      expect(textOf((await one.reach(taskId, 'completed')).result)).toBe('plan, save for Ada')
      expect(done).toEqual(['plan', 'save for Ada'])
      expect([seen.size, one.errors, two.errors]).toEqual([1, [], []])
    })

    test('a step that the store lost is stored again with the question after it, and has one idempotency key', async () => {
      const keys: string[] = []
      const order = tool('order', {
        description: 'Orders',
        task: 'required',
        run: async (_, ctx) => {
          await ctx.elicit('where', { message: 'To where?', schema: named })
          await ctx.step('pay', ({ idempotencyKey }) => void keys.push(idempotencyKey))
          return (await ctx.elicit('who', { message: 'For whom?', schema: named })).name
        },
      })
      // What is recorded is lost, as in a fail-over, and the claim is not.
      const around = (engine: TaskEngine): TaskEngine => ({ ...engine, record: async () => 'owned' })
      const instance = createFleet(around).add([order], {}, definition)
      const taskId = await instance.start('order')
      for (const key of ['where', 'who']) {
        await instance.reach(taskId, ({ inputRequests }) => Object.keys(inputRequests ?? {}).includes(key))
        await sendTaskAnswer(instance, taskId, { [key]: accept({ name: 'Ada' }) })
      }
      expect(textOf((await instance.reach(taskId, 'completed')).result)).toBe('Ada')
      expect(keys).toHaveLength(1)
    })

    test('a question asked again has a new key each time, and no key is used twice [TSK-031 TSK-032 TSK-033]', async () => {
      const asking = tool('ask', {
        description: 'Asks',
        task: 'required',
        run: async (_, ctx) => (await ctx.elicit('who', { message: 'For whom?', schema: named })).name,
      })
      const instance = createFleet().add([asking], {}, definition)
      const taskId = await instance.start('ask')
      const keys: string[] = []
      for (const name of ['A', 'B', 'Ada']) {
        const { inputRequests } = await instance.reach(taskId, 'input_required')
        const [key = ''] = Object.keys(inputRequests ?? {})
        keys.push(key)
        await sendTaskAnswer(instance, taskId, { [key]: accept({ name }) })
        await instance.reach(
          taskId,
          ({ inputRequests, status }) => status !== 'working' && !Object.keys(inputRequests ?? {}).includes(key),
        )
      }
      expect(keys).toEqual(['who', 'who~2', 'who~3'])
      expect(textOf((await instance.reach(taskId, 'completed')).result)).toBe('Ada')
    })

    test('rounds that a handler returns itself have unique keys too [TSK-031 TSK-032 TSK-033]', async () => {
      const params = { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } } as const
      const asking = tool('ask', {
        description: 'Asks in the protocol’s own terms',
        task: 'required',
        run: (_, ctx) => {
          const rounds = typeof ctx.state === 'number' ? ctx.state : 0
          if (rounds === 2) return `answered ${[...ctx.responses.keys()].join()}`
          return inputRequired({ requests: { who: { method: 'elicitation/create', params } }, state: rounds + 1 })
        },
      })
      const instance = createFleet().add([asking], {}, definition)
      const taskId = await instance.start('ask')
      const keys: string[] = []
      for (let round = 0; round < 2; round++) {
        const wanted = ({ inputRequests }: JsonObject) =>
          Object.keys(inputRequests ?? {}).some((key) => !keys.includes(key))
        const [key = ''] = Object.keys((await instance.reach(taskId, wanted)).inputRequests ?? {})
        keys.push(key)
        await sendTaskAnswer(instance, taskId, { [key]: accept({}) })
      }
      expect(new Set(keys).size).toBe(2)
      expect(textOf((await instance.reach(taskId, 'completed')).result)).toBe('answered who')
    })

    test('a call that becomes a task after some rounds repeats neither its questions nor its steps [TSK-015 PWF-004]', async () => {
      const { done, work } = createWorkRecorder()
      const asking = tool('ask', {
        description: 'Asks first',
        run: async (_, ctx) => {
          const { name } = await ctx.elicit('who', { message: 'For whom?', schema: named })
          await ctx.step('plan', () => work(`plan for ${name}`))
          const isTask = await ctx.continueAsTask()
          const { name: again } = await ctx.elicit('really', { message: 'Really?', schema: named })
          return `${await ctx.step('save', () => work(`save for ${again}`))} ${isTask}`
        },
      })
      const fleet = createFleet()
      const [one, two] = [fleet.add([asking], {}, definition), fleet.add([asking], { runWorker: false }, definition)]
      const first = await one.result('tools/call', { name: 'ask' })
      expect([first.resultType, Object.keys(first.inputRequests ?? {}), first.taskId]).toEqual([
        'input_required',
        ['who'],
        undefined,
      ])
      const { requestState = '' } = first
      const retry = { name: 'ask', requestState, inputResponses: { who: accept({ name: 'Ada' }) } }
      const created = await two.result('tools/call', retry)
      expect(created).toMatchObject({ resultType: 'task', status: 'working' })
      expect([created.requestState, created.inputRequests]).toEqual([undefined, undefined])
      const taskId = String(created.taskId)
      const { inputRequests } = await one.reach(taskId, 'input_required')
      expect(Object.keys(inputRequests ?? {})).toEqual(['really'])
      await sendTaskAnswer(two, taskId, { really: accept({ name: 'Ada' }) })
      expect(textOf((await two.reach(taskId, 'completed')).result)).toBe('save for Ada true')
      expect(done).toEqual(['plan for Ada', 'save for Ada'])
    })

    test('a tool that would become a task continues without one, or fails, for a client that accepts no tasks', async () => {
      const becoming = tool('become', {
        description: 'Becomes a task',
        input: z.object({ must: z.boolean() }),
        run: async ({ must }, ctx) => `task: ${await ctx.continueAsTask(must ? 'required' : 'allowed')}`,
      })
      const { result, error } = createFleet().add([becoming], {}, definition)
      const call = (must: boolean) => ({ name: 'become', arguments: { must } })
      const capabilities = {}
      expect(textOf(await result('tools/call', call(false), { capabilities }))).toBe('task: false')
      expect(await error('tools/call', call(true), { capabilities })).toMatchObject({
        code: errorCodes.missingRequiredClientCapability,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      })
    })

    test('a suspended worker is replaced, and changes nothing when it resumes', async () => {
      const { done, work } = createWorkRecorder()
      const shut = createGate()
      let isFirst = true
      const slow = tool('slow', {
        description: 'Hangs once in the middle',
        task: 'required',
        run: async (_, ctx) => {
          await ctx.step('one', () => work('one'))
          const which = await ctx.step('two', async ({ idempotencyKey }) => {
            const frozen = isFirst
            isFirst = false
            if (frozen) await shut.pass()
            return work(`two by the ${frozen ? 'frozen' : 'other'} one as ${idempotencyKey.split('/')[1]}`)
          })
          await ctx.step('three', () => work('three'))
          return which
        },
      })
      const fleet = createFleet()
      const frozen = fleet.add([slow], {}, definition)
      const taskId = await frozen.start('slow')
      await shut.reached
      const other = fleet.add([slow], {}, definition)
      fleet.pass(fleet.engine.leaseMs + 1)
      other.clock.advance(10_000)
      const task = await other.reach(taskId, 'completed')
      expect(textOf(task.result)).toBe('two by the other one as two')
      shut.open()
      while (frozen.server.tasks.running > 0) await new Promise(setImmediate)
      expect(await other.see(taskId)).toEqual(task)
      expect(done).toEqual(['one', 'two by the other one as two', 'three', 'two by the frozen one as two'])
    })

    test('a step that was not stored before its worker died is repeated with the same idempotency key', async () => {
      const keys: string[] = []
      const shut = createGate()
      const once = tool('once', {
        description: 'Dies once before its step is stored',
        task: 'required',
        run: (_, ctx) => {
          const uuid = ctx.uuid('order')
          return ctx.step('save', async ({ idempotencyKey }) => {
            keys.push(`${idempotencyKey} ${uuid}`)
            if (keys.length === 1) await shut.pass()
            return 'saved'
          })
        },
      })
      const fleet = createFleet()
      const dead = fleet.add([once], {}, definition)
      const taskId = await dead.start('once')
      await shut.reached
      fleet.pass(fleet.engine.leaseMs + 1)
      const next = fleet.add([once], {}, definition)
      await next.reach(taskId, 'completed')
      expect([keys.length, new Set(keys).size]).toEqual([2, 1])
    })
  },
)
