import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import type { TestEngines } from './engine-under-test.ts'
import {
  withoutAge,
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
} from './samples.ts'

const otherOwner = '["https://issuer.example","eve",null]'

// What an engine may store wrongly: the zero character, half a surrogate pair, and the key `__proto__`.
const unusualJson: object = JSON.parse(
  '{"__proto__":{"a":1},"text":"\\u0000 \\ud800 \\u2028 \\"","number":1e300,"small":5e-324,"list":[null,[],{}],"":{"":""}}',
)
const unusualMembers = { ...unusualJson, ['__proto__']: { a: 1 } }

/** What an engine stores, and the owners and lifetimes of tasks. */
export const storageTests: readonly (readonly [string, (engines: TestEngines) => Promise<void>])[] = [
  [
    'a created task is visible at once to every instance, with its state',
    async ({ here, there }) => {
      const createOutcome = await here.create(createNewTask('a', { statusMessage: 'Begins' }))
      const foundRow = await there.get('a', sampleOwner)
      deepEqual(withoutAge(foundRow), withoutAge(createOutcome))
      ok(foundRow)
      deepEqual(
        [
          foundRow.id,
          foundRow.status,
          foundRow.statusMessage,
          foundRow.ttlMs,
          foundRow.requests,
          foundRow.result,
          foundRow.error,
        ],
        ['a', 'working', 'Begins', sampleLifetimeMs, {}, undefined, undefined],
      )
      ok(foundRow.createdAt > 0 && foundRow.updatedAt >= foundRow.createdAt)
    },
  ],
  [
    'a ping of a reachable storage resolves, as the first call and later',
    async ({ here, there }) => {
      await here.ping()
      await there.create(createNewTask('a'))
      await there.ping()
      equal((await here.get('a', sampleOwner))?.id, 'a')
    },
  ],
  [
    'an operator reads the task of any owner like its owner, and undefined for an unknown id',
    async ({ here, there }) => {
      await here.create(createNewTask('a', { owner: otherOwner, statusMessage: 'Begins' }))
      const row = await there.get('a', otherOwner)
      const inspected = await there.inspect('a')
      ok(row && inspected)
      deepEqual(withoutAge({ ...inspected, ...row }), withoutAge(inspected))
      equal(row?.id, 'a')
      equal((await there.inspect('a'))?.statusMessage, 'Begins')
      equal(await there.inspect('b'), undefined)
    },
  ],
  [
    'an expired task does not exist for an operator',
    async ({ here, advanceTime }) => {
      await here.create(createNewTask('a', { lifetimeMs: 1000 }))
      await advanceTime(1001)
      equal(await here.inspect('a'), undefined)
    },
  ],
  [
    'for another owner the task does not exist, for every function',
    async ({ here }) => {
      const task = await createSuspendedTask(here)
      equal(await here.get('a', otherOwner), undefined)
      const responses = { name: { action: 'cancel' }, color: { action: 'cancel' } }
      equal(await here.answer({ id: 'a', owner: otherOwner, responses, lifetimeMs: sampleLifetimeMs }), 'unknown')
      equal(await here.cancel('a', otherOwner), 'unknown')
      equal((await here.get('a', sampleOwner))?.status, 'input_required')
      equal(task.attempt, 1)
    },
  ],
  [
    'a task that was not created is unknown',
    async ({ here }) => {
      equal(await here.get('b', sampleOwner), undefined)
      equal(await here.answer({ id: 'b', owner: sampleOwner, responses: {}, lifetimeMs: sampleLifetimeMs }), 'unknown')
      equal(await here.cancel('b', sampleOwner), 'unknown')
      deepEqual(await here.heartbeat([{ id: 'b', attempt: 1, token: 'none' }]), ['lost'])
      equal(await here.finish({ id: 'b', attempt: 1, token: 'none' }, sampleEnd), false)
    },
  ],
  [
    'an id can be used once',
    async ({ here, there }) => {
      await here.create(createNewTask('a', { payload: { first: true } }))
      await rejects(there.create(createNewTask('a', { owner: otherOwner })))
      deepEqual((await claimOne(here)).payload, { first: true })
      equal(await here.get('a', otherOwner), undefined)
    },
  ],
  [
    'a caller has as many open tasks as its limit allows, independent of other callers, also of the same owner',
    async ({ here, there }) => {
      const firstTask = await createClaimedTask(here, 'a')
      await here.create(createNewTask('b', { owner: otherOwner, callerLimit: 1 }))
      equal(await there.create(createNewTask('c', { callerLimit: 1 })), 'full')
      equal(await there.get('c', sampleOwner), undefined)
      ok((await there.create(createNewTask('d', { caller: 'elsewhere', callerLimit: 1 }))) !== 'full')
      await here.finish(firstTask, sampleEnd)
      ok((await there.create(createNewTask('c', { callerLimit: 1 }))) !== 'full')
    },
  ],
  [
    'of tasks that an owner creates at the same time, only as many as the limit are created',
    async ({ here, there }) => {
      const callerLimit = 240
      const creations = Array.from({ length: callerLimit + 20 }, (_, position) =>
        (position % 2 === 0 ? here : there).create(createNewTask(`t${position}`, { callerLimit })),
      )
      const createdTasks = (await Promise.all(creations)).filter((task) => task !== 'full')
      equal(createdTasks.length, callerLimit)
    },
  ],
  [
    'arguments and results are copies',
    async ({ here }) => {
      const payload = { list: [1] }
      await here.create(createNewTask('a', { payload }))
      payload.list.push(2)
      const task = await claimOne(here)
      deepEqual(task.payload, { list: [1] })
      const answer = { content: [{ text: 'done' }] }
      await here.finish(task, { outcome: { status: 'completed', result: answer }, lifetimeMs: sampleLifetimeMs })
      const firstTask = await here.get('a', sampleOwner)
      answer.content.push({ text: 'changed' })
      Object.assign(firstTask?.result ?? {}, { changed: true })
      deepEqual((await here.get('a', sampleOwner))?.result, { content: [{ text: 'done' }] })
    },
  ],
  [
    'every JSON value is stored unaltered',
    async ({ here, there }) => {
      await here.create(createNewTask('a', { payload: unusualMembers }))
      const task = await claimOne(there)
      deepEqual(JSON.stringify(task.payload), JSON.stringify(unusualMembers))
      await there.suspend(task, {
        ...createRelease({ entries: [{ member: 'steps', key: '__proto__', value: [unusualMembers] }] }),
        requests: { one: unusualMembers },
        lifetimeMs: sampleLifetimeMs,
      })
      equal(JSON.stringify((await here.get('a', sampleOwner))?.requests), JSON.stringify({ one: unusualMembers }))
      equal(
        await here.answer({
          id: 'a',
          owner: sampleOwner,
          responses: { one: unusualMembers },
          lifetimeMs: sampleLifetimeMs,
        }),
        'resumed',
      )
      const reclaimedTask = await claimOne(here)
      equal(JSON.stringify(reclaimedTask.responses), JSON.stringify({ one: unusualMembers }))
      equal(JSON.stringify(reclaimedTask.entries[0]?.value), JSON.stringify([unusualMembers]))
      await here.finish(reclaimedTask, {
        outcome: { status: 'completed', result: unusualMembers },
        lifetimeMs: sampleLifetimeMs,
      })
      equal(JSON.stringify((await there.get('a', sampleOwner))?.result), JSON.stringify(unusualMembers))
    },
  ],
  [
    'an expired task does not exist for any caller, and is deleted by `sweep`',
    async ({ here, there, advanceTime }) => {
      await here.create(createNewTask('a', { lifetimeMs: 1000 }))
      await here.create(createNewTask('b', { lifetimeMs: null }))
      const task = (await claimTasks(here, 2)).find(({ id }) => id === 'a')
      ok(task)
      await advanceTime(1001)
      equal(await there.get('a', sampleOwner), undefined)
      equal(await there.answer({ id: 'a', owner: sampleOwner, responses: {}, lifetimeMs: sampleLifetimeMs }), 'unknown')
      equal(await there.cancel('a', sampleOwner), 'unknown')
      deepEqual(await here.heartbeat([task]), ['lost'])
      equal(await here.record(task, createRelease()), 'lost')
      equal(await here.finish(task, sampleEnd), false)
      equal(await there.deleteExpiredTasks(), 1)
      equal(await here.deleteExpiredTasks(), 0)
      equal((await there.get('b', sampleOwner))?.ttlMs, null)
    },
  ],
  [
    'an expired task cannot be claimed',
    async ({ here, advanceTime }) => {
      await here.create(createNewTask('a', { lifetimeMs: 1000 }))
      await advanceTime(1001)
      deepEqual(await claimTasks(here, 10), [])
    },
  ],
  [
    'changes of a task prolong its lifetime, and never shorten it',
    async ({ here, advanceTime }) => {
      await here.create(createNewTask('a', { lifetimeMs: 10_000 }))
      const task = await claimOne(here)
      await here.suspend(task, { ...createRelease(), requests: sampleRequests, lifetimeMs: 1000 })
      equal((await here.get('a', sampleOwner))?.ttlMs, 10_000)
      await advanceTime(5000)
      const responses = { name: { action: 'cancel' }, color: { action: 'cancel' } }
      await here.answer({ id: 'a', owner: sampleOwner, responses, lifetimeMs: 10_000 })
      const { ttlMs } = (await here.get('a', sampleOwner)) ?? {}
      ok(typeof ttlMs === 'number' && ttlMs >= 15_000 && ttlMs < 20_000, `ttlMs is ${ttlMs}`)
      await here.finish(await claimOne(here), { ...sampleEnd, lifetimeMs: null })
      equal((await here.get('a', sampleOwner))?.ttlMs, null)
    },
  ],
  [
    'A fixed lifetime is not prolonged by questions, answers or the end [ENG-010]',
    async ({ here, advanceTime }) => {
      await here.create(createNewTask('a', { lifetimeMs: 10_000, hasFixedLifetime: true }))
      const task = await claimOne(here)
      await here.suspend(task, { ...createRelease(), requests: sampleRequests, lifetimeMs: sampleLifetimeMs })
      const responses = { name: { action: 'cancel' }, color: { action: 'cancel' } }
      await here.answer({ id: 'a', owner: sampleOwner, responses, lifetimeMs: null })
      await here.finish(await claimOne(here), sampleEnd)
      equal((await here.get('a', sampleOwner))?.ttlMs, 10_000)
      await advanceTime(10_001)
      equal(await here.get('a', sampleOwner), undefined)
    },
  ],
]
