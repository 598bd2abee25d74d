import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
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

const otherOwner = '["https://issuer.example","eve",null]'

// Keys and texts that engines are known to trip over: the zero character, half a surrogate pair, a key that is no key in a literal.
const unusualJson: object = JSON.parse(
  '{"__proto__":{"a":1},"text":"\\u0000 \\ud800 \\u2028 \\"","number":1e300,"small":5e-324,"list":[null,[],{}],"":{"":""}}',
)
const unusualMembers = { ...unusualJson, ['__proto__']: { a: 1 } }

/** What an engine keeps, for whom, and for how long. */
export const storing: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  [
    'a task that was made is there at once for every instance, and says how it stands',
    async ({ here, there }) => {
      const made = await here.create(newTask('a', { statusMessage: 'Begins' }))
      const found = await there.get('a', owner)
      deepEqual(ageless(found), ageless(made))
      ok(found)
      deepEqual(
        [found.id, found.status, found.statusMessage, found.ttlMs, found.requests, found.result, found.error],
        ['a', 'working', 'Begins', life, {}, undefined, undefined],
      )
      ok(found.createdAt > 0 && found.updatedAt >= found.createdAt)
    },
  ],
  [
    'a storage that can be reached answers a ping, as the first that is asked of it and later',
    async ({ here, there }) => {
      await here.ping()
      await there.create(newTask('a'))
      await there.ping()
      equal((await here.get('a', owner))?.id, 'a')
    },
  ],
  [
    'an operator sees the task of any owner as its owner does, and none that is not there',
    async ({ here, there }) => {
      await here.create(newTask('a', { owner: otherOwner, statusMessage: 'Begins' }))
      deepEqual(ageless(await there.inspect('a')), ageless(await here.get('a', otherOwner)))
      equal((await there.inspect('a'))?.statusMessage, 'Begins')
      equal(await there.inspect('b'), undefined)
    },
  ],
  [
    'a task whose time has run out is not there for an operator either',
    async ({ here, pass }) => {
      await here.create(newTask('a', { lifeMs: 1000 }))
      await pass(1001)
      equal(await here.inspect('a'), undefined)
    },
  ],
  [
    'for another owner there is no such task, whatever is done with it',
    async ({ here }) => {
      const task = await suspendedTask(here)
      equal(await here.get('a', otherOwner), undefined)
      const responses = { name: { action: 'cancel' }, color: { action: 'cancel' } }
      equal(await here.answer({ id: 'a', owner: otherOwner, responses, lifeMs: life }), 'unknown')
      equal(await here.cancel('a', otherOwner), 'unknown')
      equal((await here.get('a', owner))?.status, 'input_required')
      equal(task.attempt, 1)
    },
  ],
  [
    'what nobody made is unknown',
    async ({ here }) => {
      equal(await here.get('b', owner), undefined)
      equal(await here.answer({ id: 'b', owner, responses: {}, lifeMs: life }), 'unknown')
      equal(await here.cancel('b', owner), 'unknown')
      deepEqual(await here.heartbeat([{ id: 'b', attempt: 1 }]), ['lost'])
      equal(await here.finish({ id: 'b', attempt: 1 }, { outcome: { status: 'cancelled' }, lifeMs: life }), false)
    },
  ],
  [
    'an id is given once',
    async ({ here, there }) => {
      await here.create(newTask('a', { payload: { first: true } }))
      await rejects(there.create(newTask('a', { owner: otherOwner })))
      deepEqual((await claimOne(here)).payload, { first: true })
      equal(await here.get('a', otherOwner), undefined)
    },
  ],
  [
    'a caller has as many tasks that have not ended as the limit allows, whatever others have, of the same owner as well',
    async ({ here, there }) => {
      const first = await claimedTask(here, 'a')
      await here.create(newTask('b', { owner: otherOwner, callerLimit: 1 }))
      equal(await there.create(newTask('c', { callerLimit: 1 })), 'full')
      equal(await there.get('c', owner), undefined)
      ok((await there.create(newTask('d', { caller: 'elsewhere', callerLimit: 1 }))) !== 'full')
      await here.finish(first, { outcome: { status: 'completed', result }, lifeMs: life })
      ok((await there.create(newTask('c', { callerLimit: 1 }))) !== 'full')
    },
  ],
  [
    'of many tasks that an owner has made at the same time, as many are as the limit allows',
    async ({ here, there }) => {
      const callerLimit = 240
      const making = Array.from({ length: callerLimit + 20 }, (_, at) =>
        (at % 2 === 0 ? here : there).create(newTask(`t${at}`, { callerLimit })),
      )
      const made = (await Promise.all(making)).filter((task) => task !== 'full')
      equal(made.length, callerLimit)
    },
  ],
  [
    'what goes in and what comes out are copies',
    async ({ here }) => {
      const payload = { list: [1] }
      await here.create(newTask('a', { payload }))
      payload.list.push(2)
      const task = await claimOne(here)
      deepEqual(task.payload, { list: [1] })
      const answer = { content: [{ text: 'done' }] }
      await here.finish(task, { outcome: { status: 'completed', result: answer }, lifeMs: life })
      const first = await here.get('a', owner)
      answer.content.push({ text: 'changed' })
      Object.assign(first?.result ?? {}, { changed: true })
      deepEqual((await here.get('a', owner))?.result, { content: [{ text: 'done' }] })
    },
  ],
  [
    'every JSON value comes back as it was',
    async ({ here, there }) => {
      await here.create(newTask('a', { payload: unusualMembers }))
      const task = await claimOne(there)
      deepEqual(JSON.stringify(task.payload), JSON.stringify(unusualMembers))
      await there.suspend(task, {
        ...progress({ entries: [{ part: 'steps', key: '__proto__', value: [unusualMembers] }] }),
        requests: { one: unusualMembers },
        lifeMs: life,
      })
      equal(JSON.stringify((await here.get('a', owner))?.requests), JSON.stringify({ one: unusualMembers }))
      equal(await here.answer({ id: 'a', owner, responses: { one: unusualMembers }, lifeMs: life }), 'resumed')
      const again = await claimOne(here)
      equal(JSON.stringify(again.responses), JSON.stringify({ one: unusualMembers }))
      equal(JSON.stringify(again.entries[0]?.value), JSON.stringify([unusualMembers]))
      await here.finish(again, { outcome: { status: 'completed', result: unusualMembers }, lifeMs: life })
      equal(JSON.stringify((await there.get('a', owner))?.result), JSON.stringify(unusualMembers))
    },
  ],
  [
    'a task whose time has run out is not there for anybody, and is deleted by sweeping',
    async ({ here, there, pass }) => {
      await here.create(newTask('a', { lifeMs: 1000 }))
      await here.create(newTask('b', { lifeMs: null }))
      const task = (await here.claim(2)).find(({ id }) => id === 'a')
      ok(task)
      await pass(1001)
      equal(await there.get('a', owner), undefined)
      equal(await there.answer({ id: 'a', owner, responses: {}, lifeMs: life }), 'unknown')
      equal(await there.cancel('a', owner), 'unknown')
      deepEqual(await here.heartbeat([task]), ['lost'])
      equal(await here.record(task, progress()), 'lost')
      equal(await here.finish(task, { outcome: { status: 'completed', result }, lifeMs: life }), false)
      equal(await there.sweep(), 1)
      equal(await here.sweep(), 0)
      equal((await there.get('b', owner))?.ttlMs, null)
    },
  ],
  [
    'a task that has expired is not worked on',
    async ({ here, pass }) => {
      await here.create(newTask('a', { lifeMs: 1000 }))
      await pass(1001)
      deepEqual(await here.claim(10), [])
    },
  ],
  [
    'what happens to a task makes it live longer, and never shorter',
    async ({ here, pass }) => {
      await here.create(newTask('a', { lifeMs: 10_000 }))
      const task = await claimOne(here)
      await here.suspend(task, { ...progress(), requests, lifeMs: 1000 })
      equal((await here.get('a', owner))?.ttlMs, 10_000)
      await pass(5000)
      const responses = { name: { action: 'cancel' }, color: { action: 'cancel' } }
      await here.answer({ id: 'a', owner, responses, lifeMs: 10_000 })
      const { ttlMs } = (await here.get('a', owner)) ?? {}
      ok(typeof ttlMs === 'number' && ttlMs >= 15_000 && ttlMs < 20_000, `ttlMs is ${ttlMs}`)
      await here.finish(await claimOne(here), { outcome: { status: 'completed', result }, lifeMs: null })
      equal((await here.get('a', owner))?.ttlMs, null)
    },
  ],
]
