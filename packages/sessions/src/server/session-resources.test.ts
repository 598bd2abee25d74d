import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { sessionResources } from './session-resources.ts'

const setUp = (options: { readonly maxOpenResources?: number; readonly fails?: () => boolean } = {}) => {
  const clock = manualClock()
  const events: string[] = []
  const resources = sessionResources({
    open: async ({ id }) => {
      events.push(`open ${id}`)
      if (options.fails?.() === true) throw new Error('no')
      return { id }
    },
    close: ({ id }) => void events.push(`close ${id}`),
    runtime: clock,
    ...(options.maxOpenResources !== undefined && { maxOpenResources: options.maxOpenResources }),
  })
  return { clock, events, resources, session: (id: string, expiresAt = 1000) => ({ id, expiresAt }) }
}

test('a resource is opened once for a session, however many calls ask at once', async () => {
  const { resources, events, session } = setUp()
  const all = await Promise.all(['a', 'b', 'a', 'a'].map((id) => resources.of(session(id))))
  expect(new Set(all).size).toBe(2)
  expect([events, resources.size]).toEqual([['open a', 'open b'], 2])
})

test('it is closed when the session is deleted here, once', async () => {
  const { resources, events, session, clock } = setUp()
  await resources.of(session('a'))
  await Promise.all([resources.end('a'), resources.end('a'), resources.end('unknown')])
  expect([events, resources.size, clock.waiting]).toEqual([['open a', 'close a'], 0, 0])
  await resources.of(session('a'))
  expect(events.at(-1)).toBe('open a')
})

test('it is closed when the session expires, though that is further away than timers reach', async () => {
  const { resources, events, session, clock } = setUp()
  await resources.of(session('a', 2 ** 32))
  clock.advance(2 ** 32 - 1)
  expect(events).toEqual(['open a'])
  clock.advance(1)
  await expect.poll(() => events).toEqual(['open a', 'close a'])
  expect(clock.waiting).toBe(0)
})

test('all are closed with the process', async () => {
  const { resources, events, session, clock } = setUp()
  for (const id of ['a', 'b']) await resources.of(session(id))
  await resources[Symbol.asyncDispose]()
  expect([events.slice(2), resources.size, clock.waiting]).toEqual([['close a', 'close b'], 0, 0])
})

test('what could not be opened is tried again', async () => {
  let isBroken = true
  const { resources, session, clock } = setUp({ fails: () => isBroken })
  await expect(resources.of(session('a'))).rejects.toThrow('no')
  expect([resources.size, clock.waiting]).toEqual([0, 0])
  isBroken = false
  expect(await resources.of(session('a'))).toEqual({ id: 'a' })
})

test('more than a number of them are refused, so that sessions cannot fill a process', async () => {
  const { resources, session } = setUp({ maxOpenResources: 1 })
  await resources.of(session('a'))
  await expect(resources.of(session('b'))).rejects.toMatchObject({
    data: { reason: 'quota', limit: 'session_resources', max: 1 },
  })
  await resources.of(session('a'))
})

test('one caller takes a tenth of them, and gives each back when it is closed or cannot be opened', async () => {
  let isBroken = false
  const { resources, session } = setUp({ maxOpenResources: 20, fails: () => isBroken })
  const of = (id: string, callerKey: string) => resources.of({ ...session(id), callerKey })
  await of('a', 'eve')
  await of('b', 'eve')
  await of('b', 'eve')
  await expect(of('c', 'eve')).rejects.toMatchObject({ data: { reason: 'quota', max: 2, retryAfterMs: 1000 } })
  for (let caller = 1; caller < 10; caller++) {
    for (const id of ['a', 'b']) await of(`${id} of ${caller}`, `caller ${caller}`)
  }
  await expect(of('d', 'ada')).rejects.toMatchObject({ data: { reason: 'overloaded', max: 20 } })
  await resources.end('a')
  isBroken = true
  await expect(of('c', 'eve')).rejects.toThrow('no')
  isBroken = false
  expect(await of('c', 'eve')).toEqual({ id: 'c' })
})

test('the error of one that cannot be closed is reported, and it is forgotten', async () => {
  const told: unknown[] = []
  const failure = new Error('stuck')
  const resources = sessionResources({
    open: () => 1,
    close: () => Promise.reject(failure),
    log: ({ err }) => void told.push(err),
    runtime: manualClock(),
  })
  await resources.of({ id: 'a', expiresAt: 1 })
  await resources.close()
  expect([told, resources.size]).toEqual([[failure], 0])
})
