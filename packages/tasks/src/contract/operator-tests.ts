import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import type { TaskEngine } from '../engines/engine.ts'
import type { TestEngines } from './engine-under-test.ts'
import {
  claimOne,
  createClaimedTask,
  createNewTask,
  createRelease,
  createSuspendedTask,
  sampleEnd,
  sampleOwner,
} from './samples.ts'
import { writeAllWithLease } from './work-tests.ts'

/** Longer than all calls of a test to a slow database take. */
const stepMs = 10_000

/** Tokens, quotas, due times and the functions for operators. */
export const operatorTests: readonly (readonly [string, (engines: TestEngines) => Promise<void>])[] = [
  [
    'A write with the right attempt and another token is lost, and every claim has a different token [ENG-001]',
    async ({ here, there }) => {
      const first = await createClaimedTask(here)
      deepEqual(await writeAllWithLease(there, { ...first, token: 'forged' }), ['lost', 'lost', 'lost', 'lost', false])
      equal(await here.release(first, createRelease()), 'owned')
      const second = await claimOne(there)
      notEqual(second.token, first.token)
      deepEqual(await writeAllWithLease(here, { ...first, attempt: second.attempt }), [
        'lost',
        'lost',
        'lost',
        'lost',
        false,
      ])
      equal(await there.finish(second, sampleEnd), true)
    },
  ],
  [
    'A claim by id returns only that task, and the time until the next pause or lease ends',
    async ({ here, there }) => {
      equal((await here.claim({ maxClaims: 1 })).nextDueMs, undefined)
      for (const id of ['a', 'b']) await here.create(createNewTask(id))
      const { tasks } = await there.claim({ maxClaims: 5, id: 'b', worker: 'host:1' })
      deepEqual(
        tasks.map(({ id }) => id),
        ['b'],
      )
      deepEqual((await here.claim({ maxClaims: 5, id: 'b' })).tasks, [])
      const { nextDueMs = 0 } = await here.claim({ maxClaims: 5, id: 'b' })
      ok(nextDueMs > 0 && nextDueMs <= here.leaseMs, `nextDueMs is ${nextDueMs}`)
      const [claimed] = tasks
      ok(claimed)
      await there.release(claimed, createRelease({ pauseMs: 500 }))
      const { nextDueMs: pauseMs = 0 } = await here.claim({ maxClaims: 5, id: 'b' })
      ok(pauseMs > 0 && pauseMs <= 500, `nextDueMs is ${pauseMs}`)
    },
  ],
  [
    'The ids of tasks that can be claimed are listed in the order in which they became due',
    async ({ here, there, advanceTime }) => {
      for (const id of ['a', 'b', 'c', 'd']) {
        await here.create(createNewTask(id))
        await advanceTime(1000)
      }
      await here.claim({ maxClaims: 1, id: 'b' })
      const [paused] = (await here.claim({ maxClaims: 1, id: 'c' })).tasks
      ok(paused)
      await here.release(paused, createRelease({ pauseMs: 60_000 }))
      deepEqual(await there.listDue(10), ['a', 'd'])
      deepEqual(await there.listDue(1), ['a'])
      await advanceTime(here.leaseMs + 1)
      deepEqual(await there.listDue(10), ['a', 'd', 'b'])
    },
  ],
  [
    'A caller has as many stored tasks as its limit, and a new task replaces the oldest ended one [ENG-009]',
    async ({ here, there }) => {
      const limited = { callerLimit: 2 }
      for (const id of ['a', 'b']) {
        await here.create(createNewTask(id, limited))
        await here.finish(await claimOne(here), sampleEnd)
      }
      await there.create(createNewTask('c', limited))
      deepEqual([(await here.get('a', sampleOwner))?.id, (await here.get('b', sampleOwner))?.id], [undefined, 'b'])
      await there.create(createNewTask('d', limited))
      equal(await here.get('b', sampleOwner), undefined)
      equal(await here.create(createNewTask('e', limited)), 'full')
      ok((await here.create(createNewTask('f', { ...limited, owner: 'another' }))) !== 'full')
    },
  ],
  [
    'The end of a task deletes its payload, and stores the last progress of its handler [ENG-008]',
    async ({ here, there, advanceTime }) => {
      const task = await createClaimedTask(here)
      await here.finish(task, { ...sampleEnd, statusMessage: 'Done', progress: { progress: 3, total: 3 } })
      const row = await there.get('a', sampleOwner)
      deepEqual([row?.statusMessage, row?.progress], ['Done', { progress: 3, total: 3 }])
      await advanceTime(here.leaseMs + 1)
      deepEqual((await there.claim({ maxClaims: 1 })).tasks, [])
    },
  ],
  [
    'An operator cancels and revokes tasks of any owner',
    async ({ here, there }) => {
      equal(await here.revoke('none'), 'unknown')
      const stuck = await createClaimedTask(here)
      equal(await there.revoke('a'), 'revoked')
      deepEqual(await here.heartbeat([stuck]), ['lost'])
      const next = await claimOne(there)
      deepEqual([next.attempt, next.failures], [2, 0])
      equal(await here.cancel('a'), 'notified')
      equal(await there.finish(next, sampleEnd), true)
      equal(await here.cancel('a'), 'finished')
      equal(await here.revoke('a'), 'finished')
      await createSuspendedTask(here, 'b')
      equal(await here.revoke('b'), 'waiting')
      equal(await here.cancel('b'), 'cancelled')
    },
  ],
  [
    'An operator lists tasks page by page, the newest first',
    async ({ here, there, advanceTime }) => {
      await createListedTasks(here, advanceTime)
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await there.list({ limit: 2, cursor })
        seen.push(...page.tasks.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      deepEqual(seen, ['e', 'd', 'c', 'b', 'a'])
    },
  ],
  [
    'An operator filters tasks by their tool, owner, status, age and failures',
    async ({ here, there, advanceTime }) => {
      await createListedTasks(here, advanceTime)
      const idsOf = async (filter: object) => (await there.list({ limit: 10, ...filter })).tasks.map(({ id }) => id)
      deepEqual(await idsOf({ tool: 'other' }), ['c'])
      deepEqual(await idsOf({ owner: 'bob' }), ['d'])
      deepEqual(await idsOf({ status: 'completed' }), [])
      deepEqual(await idsOf({ olderThanMs: 3.5 * stepMs }), ['b', 'a'])
      await here.claim({ maxClaims: 1, id: 'a', worker: 'host:1' })
      await advanceTime(here.leaseMs + 1)
      await there.claim({ maxClaims: 1, id: 'a', worker: 'host:2' })
      const [summary, ...others] = (await here.list({ limit: 10, minFailures: 1 })).tasks
      const { id, state, worker, attempt, owner, tool, dueInMs = 0 } = summary ?? {}
      deepEqual([id, state, worker, attempt, owner, tool], ['a', 'running', 'host:2', 2, 'ada', 'work'])
      deepEqual([others, dueInMs > 0], [[], true])
      equal((await here.inspect('a'))?.worker, 'host:2')
    },
  ],
  [
    'An operator counts the open tasks by tool and state, with the age of the oldest',
    async ({ here, there, advanceTime }) => {
      await createSuspendedTask(here, 'waiting')
      const paused = await createClaimedTask(here, 'paused')
      await here.release(paused, createRelease({ pauseMs: 3_000_000 }))
      await here.finish(await createClaimedTask(here, 'ended'), sampleEnd)
      await here.create(createNewTask('running', { tool: 'other' }))
      await advanceTime(stepMs)
      await claimOne(here)
      await here.create(createNewTask('ready'))
      await advanceTime(500)
      const counts = (await there.count()).map(({ tool, status, state, count }) => [tool, status, state, count])
      deepEqual(
        counts.toSorted((one, other) => String(one).localeCompare(String(other))),
        [
          ['other', 'working', 'running', 1],
          ['work', 'input_required', 'waiting', 1],
          ['work', 'working', 'paused', 1],
          ['work', 'working', 'ready', 1],
        ],
      )
      const ages = new Map((await there.count()).map(({ state, oldestAgeMs }) => [state, oldestAgeMs]))
      const [readyMs = 0, runningMs = 0] = [ages.get('ready'), ages.get('running')]
      ok(readyMs >= 500 && readyMs < stepMs && runningMs >= stepMs + 500, `the ages are ${readyMs} and ${runningMs}`)
    },
  ],
]

async function createListedTasks(engine: TaskEngine, advanceTime: TestEngines['advanceTime']): Promise<void> {
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await engine.create(createNewTask(id, { tool: id === 'c' ? 'other' : 'work', owner: id === 'd' ? 'bob' : 'ada' }))
    await advanceTime(stepMs)
  }
}
