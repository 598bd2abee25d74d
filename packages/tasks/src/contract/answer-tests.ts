import { deepEqual, equal } from 'node:assert/strict'
import type { TaskAnswerOutcome, TaskEngine } from '../engines/engine.ts'
import type { TestEngines } from './engine-under-test.ts'
import {
  createAcceptedAnswer,
  createClaimedTask,
  claimOne,
  sampleLifetimeMs,
  createNewTask,
  sampleOwner,
  createRelease,
  sampleRequests,
  sampleEnd,
  createSuspendedTask,
  claimTasks,
  waitUntil,
} from './samples.ts'
import type { JsonObject } from '@x/schema'
import { writeAllWithLease } from './work-tests.ts'

/** Answers and cancellations, and the notifications to workers that they cause. */
export const answerTests: readonly (readonly [string, (engines: TestEngines) => Promise<void>])[] = [
  [
    'answers are stored separately, and the task continues after the last one with all of them',
    async ({ here, there }) => {
      await createSuspendedTask(here)
      equal(
        await storeAnswers(there, { name: createAcceptedAnswer('Ada'), other: createAcceptedAnswer('?') }),
        'stored',
      )
      const row = await here.get('a', sampleOwner)
      deepEqual([row?.status, Object.keys(row?.requests ?? {})], ['input_required', ['color']])
      deepEqual(await claimTasks(here, 1), [])
      equal(await storeAnswers(here, { color: createAcceptedAnswer('red') }), 'resumed')
      deepEqual((await there.get('a', sampleOwner))?.requests, {})
      const task = await claimOne(there)
      deepEqual([task.attempt, task.failures], [2, 0])
      deepEqual(task.responses, { name: createAcceptedAnswer('Ada'), color: createAcceptedAnswer('red') })
    },
  ],
  [
    'an answer counts once, and an answer without a request is ignored',
    async ({ here }) => {
      await createSuspendedTask(here)
      equal(await storeAnswers(here, { name: createAcceptedAnswer('Ada') }), 'stored')
      equal(await storeAnswers(here, { name: createAcceptedAnswer('Eve') }), 'ignored')
      equal(
        await storeAnswers(here, { toString: createAcceptedAnswer('?'), ['__proto__']: createAcceptedAnswer('?') }),
        'ignored',
      )
      equal(await storeAnswers(here, {}), 'ignored')
      equal(await storeAnswers(here, { color: createAcceptedAnswer('red') }), 'resumed')
      equal(
        await storeAnswers(here, { name: createAcceptedAnswer('Eve'), color: createAcceptedAnswer('blue') }),
        'ignored',
      )
      deepEqual((await claimOne(here)).responses, {
        name: createAcceptedAnswer('Ada'),
        color: createAcceptedAnswer('red'),
      })
    },
  ],
  [
    'if several callers answer at the same time, one of them resumes the task, and one worker claims it',
    async ({ here, there }) => {
      await createSuspendedTask(here)
      const allAnswers = { name: createAcceptedAnswer('Ada'), color: createAcceptedAnswer('red') }
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) => storeAnswers(index % 2 === 0 ? here : there, allAnswers)),
      )
      equal(outcomes.filter((outcome) => outcome === 'resumed').length, 1)
      equal(outcomes.filter((outcome) => outcome === 'ignored').length, 11)
      const claims = await Promise.all([claimTasks(here, 5), claimTasks(there, 5), claimTasks(here, 5)])
      equal(claims.flat().length, 1)
    },
  ],
  [
    'if two callers each send half of the answers at the same time, the task continues once',
    async ({ here, there }) => {
      await createSuspendedTask(here)
      const outcomes = await Promise.all([
        storeAnswers(here, { name: createAcceptedAnswer('Ada') }),
        storeAnswers(there, { color: createAcceptedAnswer('red') }),
      ])
      deepEqual(outcomes.toSorted(), ['resumed', 'stored'])
      deepEqual((await claimOne(here)).responses, {
        name: createAcceptedAnswer('Ada'),
        color: createAcceptedAnswer('red'),
      })
    },
  ],
  [
    'answers of earlier rounds remain stored',
    async ({ here }) => {
      await createSuspendedTask(here)
      await storeAnswers(here, { name: createAcceptedAnswer('Ada'), color: createAcceptedAnswer('red') })
      const task = await claimOne(here)
      await here.suspend(task, { ...createRelease(), requests: { 'name~2': {} }, lifetimeMs: sampleLifetimeMs })
      equal(await storeAnswers(here, { name: createAcceptedAnswer('Eve') }), 'ignored')
      equal(await storeAnswers(here, { 'name~2': createAcceptedAnswer('Grace') }), 'resumed')
      const { responses } = await claimOne(here)
      deepEqual(responses, {
        name: createAcceptedAnswer('Ada'),
        color: createAcceptedAnswer('red'),
        'name~2': createAcceptedAnswer('Grace'),
      })
    },
  ],
  [
    'a task without a claim is cancelled at once, and cannot change again',
    async ({ here, there }) => {
      await here.create(createNewTask('ready'))
      equal(await there.cancel('ready', sampleOwner), 'cancelled')
      deepEqual(await claimTasks(here, 10), [])
      await createSuspendedTask(here)
      equal(await there.cancel('a', sampleOwner), 'cancelled')
      const row = await here.get('a', sampleOwner)
      deepEqual([row?.status, row?.requests], ['cancelled', {}])
      equal(
        await storeAnswers(here, { name: createAcceptedAnswer('Ada'), color: createAcceptedAnswer('red') }),
        'ignored',
      )
      equal(await here.cancel('a', sampleOwner), 'finished')
      deepEqual(await claimTasks(here, 10), [])
    },
  ],
  [
    'every write of a worker returns that its task was cancelled, and the worker ends the task',
    async ({ here, there }) => {
      const task = await createClaimedTask(here)
      equal(await there.cancel('a', sampleOwner), 'notified')
      equal((await there.get('a', sampleOwner))?.status, 'working')
      const entries = [{ member: 'steps', key: 'plan', value: [1] }]
      deepEqual(await here.heartbeat([task]), ['cancelling'])
      equal(await here.record(task, createRelease({ entries, statusMessage: 'Kept' })), 'cancelling')
      equal((await there.get('a', sampleOwner))?.statusMessage, 'Kept')
      equal(
        await here.suspend(task, { ...createRelease(), requests: sampleRequests, lifetimeMs: sampleLifetimeMs }),
        'cancelling',
      )
      equal(await here.release(task, createRelease()), 'cancelling')
      deepEqual((await there.get('a', sampleOwner))?.requests, {})
      equal(await here.finish(task, { outcome: { status: 'cancelled' }, lifetimeMs: sampleLifetimeMs }), true)
      equal(await there.cancel('a', sampleOwner), 'finished')
    },
  ],
  [
    'the result of a worker that ends its task before it is notified of the cancellation is stored',
    async ({ here, there }) => {
      const task = await createClaimedTask(here)
      await there.cancel('a', sampleOwner)
      equal(await here.finish(task, sampleEnd), true)
      equal((await there.get('a', sampleOwner))?.status, 'completed')
    },
  ],
  [
    'a task whose worker has died is cancelled at once',
    async ({ here, there, advanceTime }) => {
      const abandonedTask = await createClaimedTask(here)
      await advanceTime(here.leaseMs + 1)
      equal(await there.cancel('a', sampleOwner), 'cancelled')
      deepEqual(await writeAllWithLease(here, abandonedTask), ['lost', 'lost', 'lost', 'lost', false])
    },
  ],
  [
    'a task whose worker died after it was notified of the cancellation is claimed by another worker, which is notified as well',
    async ({ here, there, advanceTime }) => {
      await createClaimedTask(here)
      await there.cancel('a', sampleOwner)
      await advanceTime(here.leaseMs + 1)
      equal((await claimOne(there)).isCancelling, true)
    },
  ],
  [
    'workers are notified of a new task, of the last answer, of a released task, and of a cancellation',
    async ({ here, there }) => {
      const receivedEvents: string[] = []
      const stop = await there.listen({
        onWork: () => void receivedEvents.push('work'),
        onCancel: (id) => void receivedEvents.push(`cancel ${id}`),
      })
      const task = await createSuspendedTask(here)
      await waitUntil(() => receivedEvents.includes('work'))
      receivedEvents.length = 0
      await storeAnswers(here, { name: createAcceptedAnswer('Ada'), color: createAcceptedAnswer('red') })
      await waitUntil(() => receivedEvents.includes('work'))
      const secondClaim = await claimOne(here)
      receivedEvents.length = 0
      await here.release(secondClaim, createRelease())
      await waitUntil(() => receivedEvents.includes('work'))
      const thirdClaim = await claimOne(here)
      await here.cancel('a', sampleOwner)
      await waitUntil(() => receivedEvents.includes('cancel a'))
      equal(thirdClaim.attempt, task.attempt + 2)
      stop()
      receivedEvents.length = 0
      await here.create(createNewTask('b'))
      deepEqual(receivedEvents, [])
    },
  ],
]

function storeAnswers(engine: TaskEngine, responses: JsonObject): Promise<TaskAnswerOutcome> {
  return engine.answer({ id: 'a', owner: sampleOwner, responses, lifetimeMs: sampleLifetimeMs })
}
