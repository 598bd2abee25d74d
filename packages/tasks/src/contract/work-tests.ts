import { deepEqual, equal, ok } from 'node:assert/strict'
import type { ClaimedTask, Lease, TaskEngine, TaskRow } from '../engines/engine.ts'
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
  sampleResult,
  createSuspendedTask,
  claimTasks,
} from './samples.ts'

/** Claims and leases: workers claim tasks, and only the one with the lease can write. */
export const workTests: readonly (readonly [string, (engines: TestEngines) => Promise<void>])[] = [
  [
    'each task has one worker, the oldest is claimed first, and no more are claimed than requested',
    async ({ here, there }) => {
      for (const id of ['a', 'b', 'c']) await here.create(createNewTask(id))
      deepEqual(
        (await claimTasks(here, 2)).map(({ id, attempt, failures }) => [id, attempt, failures]),
        [
          ['a', 1, 0],
          ['b', 1, 0],
        ],
      )
      deepEqual(
        (await claimTasks(there, 2)).map(({ id }) => id),
        ['c'],
      )
      deepEqual(await claimTasks(here, 2), [])
    },
  ],
  [
    'tasks that were cancelled before a claim do not delay the tasks behind them',
    async ({ here, there }) => {
      for (let index = 0; index < 20; index++) {
        await here.create(createNewTask(`c${index}`))
        await here.cancel(`c${index}`, sampleOwner)
      }
      await here.create(createNewTask('a'))
      deepEqual(
        (await claimTasks(there, 1)).map(({ id }) => id),
        ['a'],
      )
    },
  ],
  [
    'if several workers claim at the same time, one of them gets each task',
    async ({ here, there }) => {
      const ids = Array.from({ length: 20 }, (_, index) => `task-${index}`)
      for (const id of ids) await here.create(createNewTask(id))
      const pendingClaims = Array.from({ length: 16 }, (_, index) => claimTasks(index % 2 === 0 ? here : there, 3))
      const claimedIds = (await Promise.all(pendingClaims)).flat().map(({ id }) => id)
      deepEqual(claimedIds.toSorted(), [...new Set(claimedIds)].toSorted())
      const otherClaims = await claimTasks(here, 20)
      equal(claimedIds.length + otherClaims.length, ids.length)
    },
  ],
  [
    'a claim has the time since its task was ready, or since its lease expired',
    async ({ here, there, advanceTime }) => {
      await here.create(createNewTask('a'))
      await advanceTime(5000)
      const firstClaim = await claimOne(here)
      ok(firstClaim.waitedMs >= 5000, `waited for ${firstClaim.waitedMs} ms`)
      await advanceTime(here.leaseMs + 2000)
      const secondClaim = await claimOne(there)
      ok(secondClaim.waitedMs >= 2000 && secondClaim.waitedMs < here.leaseMs, `waited for ${secondClaim.waitedMs} ms`)
    },
  ],
  [
    'a frozen worker loses its task, and changes nothing when it resumes',
    async ({ here, there, advanceTime }) => {
      const stalledTask = await createClaimedTask(here)
      await advanceTime(here.leaseMs + 1)
      const takenTask = await claimOne(there)
      deepEqual([takenTask.attempt, takenTask.failures], [2, 1])
      const rowBefore = await there.get('a', sampleOwner)
      deepEqual(await writeAllWithLease(here, stalledTask), ['lost', 'lost', 'lost', 'lost', false])
      deepEqual(withoutAge(await there.get('a', sampleOwner)), withoutAge(rowBefore))
      deepEqual(await there.heartbeat([takenTask]), ['owned'])
      equal(await there.finish(takenTask, sampleEnd), true)
      deepEqual(await writeAllWithLease(here, stalledTask), ['lost', 'lost', 'lost', 'lost', false])
      deepEqual((await here.get('a', sampleOwner))?.result, sampleResult)
    },
  ],
  [
    'heartbeats renew a lease, also after it expired if no other worker has claimed the task',
    async ({ here, there, advanceTime }) => {
      const task = await createClaimedTask(here)
      for (let heartbeats = 0; heartbeats < 3; heartbeats++) {
        await advanceTime(Math.floor(here.leaseMs / 2))
        deepEqual(await here.heartbeat([task]), ['owned'])
      }
      deepEqual(await claimTasks(there, 1), [])
      await advanceTime(here.leaseMs + 1)
      deepEqual(await here.heartbeat([{ id: 'unknown', attempt: 1, token: 'none' }, task]), ['lost', 'owned'])
      deepEqual(await claimTasks(there, 1), [])
    },
  ],
  [
    'the next worker gets the last recorded entry of each part and key, and no removed member',
    async ({ here, there, advanceTime }) => {
      const task = await createClaimedTask(here)
      const entries = [
        { member: 'steps', key: 'plan', value: [1] },
        { member: 'checkpoints', key: 'scan', value: 1 },
        { member: 'round', value: 1 },
        { member: 'explicit', value: { state: 1 } },
      ]
      equal(await here.record(task, createRelease({ entries })), 'owned')
      const changes = [
        { member: 'checkpoints', key: 'scan', value: 2 },
        { member: 'explicit', value: undefined },
      ]
      equal(await here.record(task, createRelease({ entries: changes, statusMessage: 'Half' })), 'owned')
      equal((await there.get('a', sampleOwner))?.statusMessage, 'Half')
      equal(await here.record(task, createRelease()), 'owned')
      equal((await there.get('a', sampleOwner))?.statusMessage, 'Half')
      equal((await there.get('a', sampleOwner))?.progress, undefined)
      for (const numbers of [{ progress: 1, total: 2 }, { progress: 1.5 }]) {
        equal(await here.record(task, createRelease({ progress: numbers })), 'owned')
        equal(await here.record(task, createRelease()), 'owned')
        deepEqual((await there.get('a', sampleOwner))?.progress, numbers)
      }
      await advanceTime(here.leaseMs + 1)
      deepEqual(recordedEntries(await claimOne(there)), [
        ['checkpoints', 'scan', 2],
        ['explicit', undefined, undefined],
        ['round', undefined, 1],
        ['steps', 'plan', [1]],
      ])
    },
  ],
  [
    'failures are counted until a step is done',
    async ({ here, advanceTime }) => {
      await createClaimedTask(here)
      await advanceTime(here.leaseMs + 1)
      const secondClaim = await claimOne(here)
      await here.record(secondClaim, createRelease())
      await advanceTime(here.leaseMs + 1)
      const thirdClaim = await claimOne(here)
      deepEqual([secondClaim.failures, thirdClaim.failures], [1, 2])
      await here.record(thirdClaim, createRelease({ hasProgressed: true }))
      await advanceTime(here.leaseMs + 1)
      deepEqual([(await claimOne(here)).failures, thirdClaim.attempt], [1, 3])
    },
  ],
  [
    'a released task is ready at once, with its recorded entries and no failure',
    async ({ here, there }) => {
      const task = await createClaimedTask(here)
      equal(
        await here.release(task, createRelease({ entries: [{ member: 'steps', key: 'plan', value: [1] }] })),
        'owned',
      )
      equal(await here.record(task, createRelease()), 'lost')
      const nextClaim = await claimOne(there)
      deepEqual([nextClaim.attempt, nextClaim.failures, recordedEntries(nextClaim)], [2, 0, [['steps', 'plan', [1]]]])
    },
  ],
  [
    'a task that is released with a pause cannot be claimed before the pause ends',
    async ({ here, there, advanceTime }) => {
      const firstClaim = await createClaimedTask(here)
      const entries = [{ member: 'steps', key: 'plan', value: [1] }]
      equal(await here.release(firstClaim, createRelease({ entries, pauseMs: 60_000 })), 'owned')
      equal((await there.get('a', sampleOwner))?.status, 'working')
      await here.create(createNewTask('b'))
      equal((await claimOne(there)).id, 'b')
      await advanceTime(here.leaseMs + 1)
      equal((await claimTasks(there, 10)).map(({ id }) => id).includes('a'), false)
      deepEqual(await writeAllWithLease(here, firstClaim), ['lost', 'lost', 'lost', 'lost', false])
      await advanceTime(60_000)
      const nextClaim = (await claimTasks(there, 10)).find(({ id }) => id === 'a')
      ok(nextClaim)
      deepEqual([nextClaim.attempt, nextClaim.failures, recordedEntries(nextClaim)], [2, 0, [['steps', 'plan', [1]]]])
    },
  ],
  [
    'a task that is released with a pause is cancelled at once',
    async ({ here, there, advanceTime }) => {
      await here.release(await createClaimedTask(here), createRelease({ pauseMs: 60_000 }))
      equal(await there.cancel('a', sampleOwner), 'cancelled')
      await advanceTime(60_001)
      deepEqual(await claimTasks(here, 10), [])
    },
  ],
  [
    'a task that waits for its client cannot be claimed',
    async ({ here, advanceTime }) => {
      const task = await createSuspendedTask(here)
      await advanceTime(here.leaseMs + 1)
      deepEqual(await claimTasks(here, 10), [])
      deepEqual(await writeAllWithLease(here, task), ['lost', 'lost', 'lost', 'lost', false])
      const row = await here.get('a', sampleOwner)
      deepEqual([row?.status, row?.requests], ['input_required', sampleRequests])
    },
  ],
  [
    'a task ends once, with the outcome of its first end',
    async ({ here, there }) => {
      const rows: (TaskRow | undefined)[] = []
      const error = { code: -32603, message: 'No', data: { why: 1 } }
      const outcomes = [{ status: 'completed', result: sampleResult } as const, { status: 'failed', error } as const]
      for (const outcome of [...outcomes, { status: 'cancelled' } as const]) {
        const task = await createClaimedTask(here, outcome.status)
        equal(await here.finish(task, { outcome, statusMessage: 'Over', lifetimeMs: sampleLifetimeMs }), true)
        equal(await here.finish(task, { outcome: { status: 'cancelled' }, lifetimeMs: sampleLifetimeMs }), false)
        rows.push(await there.get(outcome.status, sampleOwner))
      }
      deepEqual(
        rows.map((row) => [row?.status, row?.statusMessage, row?.result, row?.error, row?.requests]),
        [
          ['completed', 'Over', sampleResult, undefined, {}],
          ['failed', 'Over', undefined, error, {}],
          ['cancelled', 'Over', undefined, undefined, {}],
        ],
      )
      deepEqual(await claimTasks(there, 10), [])
      ok(rows.every((row) => row !== undefined && row.updatedAt >= row.createdAt))
    },
  ],
]

/** Calls every function with which a worker writes. */
export async function writeAllWithLease(engine: TaskEngine, lease: Lease): Promise<readonly (string | boolean)[]> {
  const entries = [{ member: 'steps', key: 'forged', value: ['forged'] }]
  const lateRelease = createRelease({ entries, statusMessage: 'forged', hasProgressed: true })
  const [leaseState = 'none'] = await engine.heartbeat([lease])
  return [
    leaseState,
    await engine.record(lease, lateRelease),
    await engine.suspend(lease, { ...lateRelease, requests: sampleRequests, lifetimeMs: null }),
    await engine.release(lease, lateRelease),
    await engine.finish(lease, {
      outcome: { status: 'failed', error: { code: 1, message: 'forged' } },
      lifetimeMs: null,
    }),
  ]
}

function recordedEntries({ entries }: ClaimedTask): readonly (readonly unknown[])[] {
  return entries
    .map(({ member, key, value }) => [member, key, value])
    .toSorted(([a], [b]) => String(a).localeCompare(String(b)))
}
