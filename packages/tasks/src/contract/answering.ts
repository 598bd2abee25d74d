import { deepEqual, equal } from 'node:assert/strict'
import type { AnswerOutcome, TaskEngine } from '../engines/engine.ts'
import type { Bench } from './engine-under-test.ts'
import {
  accepted,
  claimedTask,
  claimOne,
  life,
  newTask,
  owner,
  progress,
  requests,
  result,
  suspendedTask,
} from './samples.ts'
import type { JsonObject } from '@x/schema'
import { until } from './until.ts'
import { writeEverything } from './working.ts'

/** How a task's client answers, cancels, and wakes workers. */
export const answering: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  [
    'answers are kept one by one, and the last one lets the task go on with all of them',
    async ({ here, there }) => {
      await suspendedTask(here)
      equal(await storeAnswers(there, { name: accepted('Ada'), other: accepted('?') }), 'stored')
      const row = await here.get('a', owner)
      deepEqual([row?.status, Object.keys(row?.requests ?? {})], ['input_required', ['color']])
      deepEqual(await here.claim(1), [])
      equal(await storeAnswers(here, { color: accepted('red') }), 'resumed')
      deepEqual((await there.get('a', owner))?.requests, {})
      const task = await claimOne(there)
      deepEqual([task.attempt, task.failures], [2, 0])
      deepEqual(task.responses, { name: accepted('Ada'), color: accepted('red') })
    },
  ],
  [
    'an answer counts once, and what was not asked never',
    async ({ here }) => {
      await suspendedTask(here)
      equal(await storeAnswers(here, { name: accepted('Ada') }), 'stored')
      equal(await storeAnswers(here, { name: accepted('Eve') }), 'ignored')
      equal(await storeAnswers(here, { toString: accepted('?'), ['__proto__']: accepted('?') }), 'ignored')
      equal(await storeAnswers(here, {}), 'ignored')
      equal(await storeAnswers(here, { color: accepted('red') }), 'resumed')
      equal(await storeAnswers(here, { name: accepted('Eve'), color: accepted('blue') }), 'ignored')
      deepEqual((await claimOne(here)).responses, { name: accepted('Ada'), color: accepted('red') })
    },
  ],
  [
    'of many who answer at the same time one wakes the task, which is then given to one worker',
    async ({ here, there }) => {
      await suspendedTask(here)
      const all = { name: accepted('Ada'), color: accepted('red') }
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) => storeAnswers(index % 2 === 0 ? here : there, all)),
      )
      equal(outcomes.filter((outcome) => outcome === 'resumed').length, 1)
      equal(outcomes.filter((outcome) => outcome === 'ignored').length, 11)
      const claims = await Promise.all([here.claim(5), there.claim(5), here.claim(5)])
      equal(claims.flat().length, 1)
    },
  ],
  [
    'two who each bring half of the answers let the task go on once',
    async ({ here, there }) => {
      await suspendedTask(here)
      const outcomes = await Promise.all([
        storeAnswers(here, { name: accepted('Ada') }),
        storeAnswers(there, { color: accepted('red') }),
      ])
      deepEqual(outcomes.toSorted(), ['resumed', 'stored'])
      deepEqual((await claimOne(here)).responses, { name: accepted('Ada'), color: accepted('red') })
    },
  ],
  [
    'answers of earlier rounds stay',
    async ({ here }) => {
      await suspendedTask(here)
      await storeAnswers(here, { name: accepted('Ada'), color: accepted('red') })
      const task = await claimOne(here)
      await here.suspend(task, { ...progress(), requests: { 'name~2': {} }, lifeMs: life })
      equal(await storeAnswers(here, { name: accepted('Eve') }), 'ignored')
      equal(await storeAnswers(here, { 'name~2': accepted('Grace') }), 'resumed')
      const { responses } = await claimOne(here)
      deepEqual(responses, { name: accepted('Ada'), color: accepted('red'), 'name~2': accepted('Grace') })
    },
  ],
  [
    'a task that nobody works on is cancelled at once, and stays so',
    async ({ here, there }) => {
      await here.create(newTask('ready'))
      equal(await there.cancel('ready', owner), 'cancelled')
      deepEqual(await here.claim(10), [])
      await suspendedTask(here)
      equal(await there.cancel('a', owner), 'cancelled')
      const row = await here.get('a', owner)
      deepEqual([row?.status, row?.requests], ['cancelled', {}])
      equal(await storeAnswers(here, { name: accepted('Ada'), color: accepted('red') }), 'ignored')
      equal(await here.cancel('a', owner), 'finished')
      deepEqual(await here.claim(10), [])
    },
  ],
  [
    'a worker hears that its task is to be cancelled in all that it does, and ends it',
    async ({ here, there }) => {
      const task = await claimedTask(here)
      equal(await there.cancel('a', owner), 'notified')
      equal((await there.get('a', owner))?.status, 'working')
      const entries = [{ part: 'steps', key: 'plan', value: [1] }]
      deepEqual(await here.heartbeat([task]), ['cancelling'])
      equal(await here.record(task, progress({ entries, statusMessage: 'Kept' })), 'cancelling')
      equal((await there.get('a', owner))?.statusMessage, 'Kept')
      equal(await here.suspend(task, { ...progress(), requests, lifeMs: life }), 'cancelling')
      equal(await here.release(task, progress()), 'cancelling')
      deepEqual((await there.get('a', owner))?.requests, {})
      equal(await here.finish(task, { outcome: { status: 'cancelled' }, lifeMs: life }), true)
      equal(await there.cancel('a', owner), 'finished')
    },
  ],
  [
    'a worker that was faster than the cancelling has its result kept',
    async ({ here, there }) => {
      const task = await claimedTask(here)
      await there.cancel('a', owner)
      equal(await here.finish(task, { outcome: { status: 'completed', result }, lifeMs: life }), true)
      equal((await there.get('a', owner))?.status, 'completed')
    },
  ],
  [
    'a task is cancelled though its worker has died',
    async ({ here, there, pass }) => {
      const dead = await claimedTask(here)
      await pass(here.leaseMs + 1)
      equal(await there.cancel('a', owner), 'cancelled')
      deepEqual(await writeEverything(here, dead), ['lost', 'lost', 'lost', 'lost', false])
    },
  ],
  [
    'a task whose worker died after it was told to cancel is given to another one that is told as well',
    async ({ here, there, pass }) => {
      await claimedTask(here)
      await there.cancel('a', owner)
      await pass(here.leaseMs + 1)
      equal((await claimOne(there)).cancelling, true)
    },
  ],
  [
    'workers are woken by a new task, by the last answer and by one that is given back, and told of what to cancel',
    async ({ here, there }) => {
      const received: string[] = []
      const stop = await there.listen({
        onWork: () => void received.push('work'),
        onCancel: (id) => void received.push(`cancel ${id}`),
      })
      const task = await suspendedTask(here)
      await until(() => received.includes('work'))
      received.length = 0
      await storeAnswers(here, { name: accepted('Ada'), color: accepted('red') })
      await until(() => received.includes('work'))
      const second = await claimOne(here)
      received.length = 0
      await here.release(second, progress())
      await until(() => received.includes('work'))
      const third = await claimOne(here)
      await here.cancel('a', owner)
      await until(() => received.includes('cancel a'))
      equal(third.attempt, task.attempt + 2)
      stop()
      received.length = 0
      await here.create(newTask('b'))
      deepEqual(received, [])
    },
  ],
]

function storeAnswers(engine: TaskEngine, responses: JsonObject): Promise<AnswerOutcome> {
  return engine.answer({ id: 'a', owner, responses, lifeMs: life })
}
