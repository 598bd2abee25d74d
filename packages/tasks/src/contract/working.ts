import { deepEqual, equal, ok } from 'node:assert/strict'
import type { ClaimedTask, Lease, TaskEngine, TaskRow } from '../engines/engine.ts'
import type { Bench } from './engine-under-test.ts'
import {
  ageless,
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

/** How tasks are given out to workers, and what of a worker counts. */
export const working: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  [
    'a task is one worker’s alone, the oldest comes first, and no more than were asked for',
    async ({ here, there }) => {
      for (const id of ['a', 'b', 'c']) await here.create(newTask(id))
      deepEqual(
        (await here.claim(2)).map(({ id, attempt, failures }) => [id, attempt, failures]),
        [
          ['a', 1, 0],
          ['b', 1, 0],
        ],
      )
      deepEqual(
        (await there.claim(2)).map(({ id }) => id),
        ['c'],
      )
      deepEqual(await here.claim(2), [])
    },
  ],
  [
    'tasks that were cancelled before anybody took them do not keep those behind them waiting',
    async ({ here, there }) => {
      for (let at = 0; at < 20; at++) {
        await here.create(newTask(`c${at}`))
        await here.cancel(`c${at}`, owner)
      }
      await here.create(newTask('a'))
      deepEqual(
        (await there.claim(1)).map(({ id }) => id),
        ['a'],
      )
    },
  ],
  [
    'of many workers that look at the same time, each task is given to one',
    async ({ here, there }) => {
      const ids = Array.from({ length: 20 }, (_, index) => `task-${index}`)
      for (const id of ids) await here.create(newTask(id))
      const looks = Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? here : there).claim(3))
      const claimed = (await Promise.all(looks)).flat().map(({ id }) => id)
      deepEqual(claimed.toSorted(), [...new Set(claimed)].toSorted())
      const others = await here.claim(20)
      equal(claimed.length + others.length, ids.length)
    },
  ],
  [
    'a worker that stands still loses its task, and changes nothing when it comes back',
    async ({ here, there, pass }) => {
      const frozen = await claimedTask(here)
      await pass(here.leaseMs + 1)
      const taken = await claimOne(there)
      deepEqual([taken.attempt, taken.failures], [2, 1])
      const before = await there.get('a', owner)
      deepEqual(await writeEverything(here, frozen), ['lost', 'lost', 'lost', 'lost', false])
      deepEqual(ageless(await there.get('a', owner)), ageless(before))
      deepEqual(await there.heartbeat([taken]), ['owned'])
      equal(await there.finish(taken, { outcome: { status: 'completed', result }, lifeMs: life }), true)
      deepEqual(await writeEverything(here, frozen), ['lost', 'lost', 'lost', 'lost', false])
      deepEqual((await here.get('a', owner))?.result, result)
    },
  ],
  [
    'heartbeats keep a task, and one that comes late does if nobody has taken it',
    async ({ here, there, pass }) => {
      const task = await claimedTask(here)
      for (let beats = 0; beats < 3; beats++) {
        await pass(Math.floor(here.leaseMs / 2))
        deepEqual(await here.heartbeat([task]), ['owned'])
      }
      deepEqual(await there.claim(1), [])
      await pass(here.leaseMs + 1)
      deepEqual(await here.heartbeat([{ id: 'nobody', attempt: 1 }, task]), ['lost', 'owned'])
      deepEqual(await there.claim(1), [])
    },
  ],
  [
    'what was recorded is there for the next worker: of each part and key the last, and nothing that was taken away',
    async ({ here, there, pass }) => {
      const task = await claimedTask(here)
      const entries = [
        { part: 'steps', key: 'plan', value: [1] },
        { part: 'checkpoints', key: 'scan', value: 1 },
        { part: 'round', value: 1 },
        { part: 'explicit', value: { state: 1 } },
      ]
      equal(await here.record(task, progress({ entries })), 'owned')
      const changes = [
        { part: 'checkpoints', key: 'scan', value: 2 },
        { part: 'explicit', value: undefined },
      ]
      equal(await here.record(task, progress({ entries: changes, statusMessage: 'Half' })), 'owned')
      equal((await there.get('a', owner))?.statusMessage, 'Half')
      equal(await here.record(task, progress()), 'owned')
      equal((await there.get('a', owner))?.statusMessage, 'Half')
      equal((await there.get('a', owner))?.progress, undefined)
      for (const numbers of [{ progress: 1, total: 2 }, { progress: 1.5 }]) {
        equal(await here.record(task, progress({ progress: numbers })), 'owned')
        equal(await here.record(task, progress()), 'owned')
        deepEqual((await there.get('a', owner))?.progress, numbers)
      }
      await pass(here.leaseMs + 1)
      deepEqual(recorded(await claimOne(there)), [
        ['checkpoints', 'scan', 2],
        ['explicit', undefined, undefined],
        ['round', undefined, 1],
        ['steps', 'plan', [1]],
      ])
    },
  ],
  [
    'failures are counted until a step is done',
    async ({ here, pass }) => {
      await claimedTask(here)
      await pass(here.leaseMs + 1)
      const second = await claimOne(here)
      await here.record(second, progress())
      await pass(here.leaseMs + 1)
      const third = await claimOne(here)
      deepEqual([second.failures, third.failures], [1, 2])
      await here.record(third, progress({ progressed: true }))
      await pass(here.leaseMs + 1)
      deepEqual([(await claimOne(here)).failures, third.attempt], [1, 3])
    },
  ],
  [
    'a task that is given back is ready at once, with what was recorded and no failure',
    async ({ here, there }) => {
      const task = await claimedTask(here)
      equal(await here.release(task, progress({ entries: [{ part: 'steps', key: 'plan', value: [1] }] })), 'owned')
      equal(await here.record(task, progress()), 'lost')
      const next = await claimOne(there)
      deepEqual([next.attempt, next.failures, recorded(next)], [2, 0, [['steps', 'plan', [1]]]])
    },
  ],
  [
    'a task that is given back for a while is nobody’s until then, whatever is looked for meanwhile',
    async ({ here, there, pass }) => {
      const first = await claimedTask(here)
      const entries = [{ part: 'steps', key: 'plan', value: [1] }]
      equal(await here.release(first, progress({ entries, pauseMs: 60_000 })), 'owned')
      equal((await there.get('a', owner))?.status, 'working')
      await here.create(newTask('b'))
      equal((await claimOne(there)).id, 'b')
      await pass(here.leaseMs + 1)
      equal((await there.claim(10)).map(({ id }) => id).includes('a'), false)
      deepEqual(await writeEverything(here, first), ['lost', 'lost', 'lost', 'lost', false])
      await pass(60_000)
      const next = (await there.claim(10)).find(({ id }) => id === 'a')
      ok(next)
      deepEqual([next.attempt, next.failures, recorded(next)], [2, 0, [['steps', 'plan', [1]]]])
    },
  ],
  [
    'a task that is given back for a while is cancelled at once',
    async ({ here, there, pass }) => {
      await here.release(await claimedTask(here), progress({ pauseMs: 60_000 }))
      equal(await there.cancel('a', owner), 'cancelled')
      await pass(60_001)
      deepEqual(await here.claim(10), [])
    },
  ],
  [
    'a task that waits for its client is nobody’s',
    async ({ here, pass }) => {
      const task = await suspendedTask(here)
      await pass(here.leaseMs + 1)
      deepEqual(await here.claim(10), [])
      deepEqual(await writeEverything(here, task), ['lost', 'lost', 'lost', 'lost', false])
      const row = await here.get('a', owner)
      deepEqual([row?.status, row?.requests], ['input_required', requests])
    },
  ],
  [
    'a task ends once, with what it ended with',
    async ({ here, there }) => {
      const rows: (TaskRow | undefined)[] = []
      const error = { code: -32603, message: 'No', data: { why: 1 } }
      const outcomes = [{ status: 'completed', result } as const, { status: 'failed', error } as const]
      for (const outcome of [...outcomes, { status: 'cancelled' } as const]) {
        const task = await claimedTask(here, outcome.status)
        equal(await here.finish(task, { outcome, statusMessage: 'Over', lifeMs: life }), true)
        equal(await here.finish(task, { outcome: { status: 'cancelled' }, lifeMs: life }), false)
        rows.push(await there.get(outcome.status, owner))
      }
      deepEqual(
        rows.map((row) => [row?.status, row?.statusMessage, row?.result, row?.error, row?.requests]),
        [
          ['completed', 'Over', result, undefined, {}],
          ['failed', 'Over', undefined, error, {}],
          ['cancelled', 'Over', undefined, undefined, {}],
        ],
      )
      deepEqual(await there.claim(10), [])
      ok(rows.every((row) => row !== undefined && row.updatedAt >= row.createdAt))
    },
  ],
]

/** Tries all that a worker can write. */
export async function writeEverything(engine: TaskEngine, lease: Lease): Promise<readonly (string | boolean)[]> {
  const entries = [{ part: 'steps', key: 'forged', value: ['forged'] }]
  const late = progress({ entries, statusMessage: 'forged', progressed: true })
  const [beat = 'none'] = await engine.heartbeat([lease])
  return [
    beat,
    await engine.record(lease, late),
    await engine.suspend(lease, { ...late, requests, lifeMs: null }),
    await engine.release(lease, late),
    await engine.finish(lease, { outcome: { status: 'failed', error: { code: 1, message: 'forged' } }, lifeMs: null }),
  ]
}

function recorded({ entries }: ClaimedTask): readonly (readonly unknown[])[] {
  return entries
    .map(({ part, key, value }) => [part, key, value])
    .toSorted(([a], [b]) => String(a).localeCompare(String(b)))
}
