import { memoryStore, randomKey, sealedState, StateError, type StateStore } from '@x/state-codec'
import { expect, test } from 'vitest'
import { createLoginStore } from './login-store.ts'

const codec = sealedState({ keys: [randomKey()] })

test('a record is replaced, and deleted', async () => {
  const store = await createLoginStore({ store: memoryStore(), codec }, 'ada')
  expect(await store.get('token a')).toBeUndefined()
  for (const value of ['one', 'two', 'three', 'four']) {
    await store.set('token a', value)
    expect(await store.get('token a')).toBe(value)
  }
  await store.delete('token a')
  expect(await store.get('token a')).toBeUndefined()
  await store.set('token a', 'five')
  expect(await store.get('token a')).toBe('five')
})

test('a record is never absent while it is replaced', async () => {
  const store = await createLoginStore({ store: memoryStore(), codec }, 'ada')
  await store.set('token a', '0')
  let isDone = false
  const reader = (async () => {
    const found = new Set<string | undefined>()
    while (!isDone) found.add(await store.get('token a'))
    return found
  })()
  for (let write = 1; write <= 200; write += 1) await store.set('token a', String(write))
  isDone = true
  expect(await reader).not.toContain(undefined)
})

test('an instance that ends during a write leaves the new value or the old one, and the next write succeeds', async () => {
  for (const step of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const shared = memoryStore()
    let left = Infinity
    const count = async <T>(run: () => Promise<T>): Promise<T> => {
      left -= 1
      if (left < 0) throw new Error('The instance has ended')
      return run()
    }
    const ending: StateStore = {
      add: (...entry) => count(() => shared.add(...entry)),
      get: (key) => count(() => shared.get(key)),
      delete: (key) => count(() => shared.delete(key)),
    }
    // The lock of the instance that has ended expires. Here it is not there.
    const survivor: StateStore = {
      ...shared,
      forOwner: undefined,
      add: (key, ...entry) => addUnlessLock(shared, key, entry),
    }
    const [first, second] = await Promise.all([
      createLoginStore({ store: ending, codec }, 'ada'),
      createLoginStore({ store: survivor, codec }, 'ada'),
    ])
    await first.set('token a', 'old')
    left = step
    await first.set('token a', 'new').catch(() => undefined)
    expect(['old', 'new']).toContain(await second.get('token a'))
    await second.set('token a', 'newest')
    expect(await second.get('token a')).toBe('newest')
  }
})

function addUnlessLock(store: StateStore, key: string, [value, ttlMs]: [string, number]): Promise<boolean> {
  return value.length === 22 ? Promise.resolve(true) : store.add(key, value, ttlMs)
}

test('only one instance at a time runs with a key, and the lock is released by an error too', async () => {
  const shared = memoryStore()
  const stores = await Promise.all(['ada', 'ada'].map((user) => createLoginStore({ store: shared, codec }, user)))
  let running = 0
  let most = 0
  await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) =>
      stores[index % 2]?.lock?.('token a', async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        if (index % 3 === 0) throw new Error('failed')
      }),
    ),
  )
  expect([most, running]).toEqual([1, 0])
})

test('a store that is away for a moment loses no token that is written, and keeps no lock', async () => {
  const shared = memoryStore()
  let failuresLeft = 0
  const reach = async <T>(run: () => Promise<T>): Promise<T> => {
    failuresLeft -= 1
    if (failuresLeft >= 0) throw new StateError('unavailable', 'It restarts')
    return run()
  }
  const restarting: StateStore = {
    add: (...entry) => reach(() => shared.add(...entry)),
    get: (key) => reach(() => shared.get(key)),
    delete: (key) => reach(() => shared.delete(key)),
  }
  const store = await createLoginStore({ store: restarting, codec }, 'ada')
  expect(await store.lock?.('token a', async () => (failuresLeft = 6))).toBe(6)
  await expect(store.get('token a')).rejects.toMatchObject({ code: 'unavailable' })
  await store.set('token a', 'renewed')
  expect(await store.get('token a')).toBe('renewed')
  expect(await store.lock?.('token a', async () => 'locked')).toBe('locked')
})

test('records of users are apart, and registrations of clients are shared', async () => {
  const shared = memoryStore()
  const [ada, grace] = await Promise.all(
    ['ada', 'grace'].map((user) => createLoginStore({ store: shared, codec }, user)),
  )
  await ada?.set('token a', 'of ada')
  await ada?.set('client a', 'of all')
  expect(await grace?.get('token a')).toBeUndefined()
  expect(await grace?.get('client a')).toBe('of all')
})

test('a user who fills its quota changes nothing for others', async () => {
  const shared = memoryStore({ maxEntriesPerOwner: 3 })
  const [ada, grace] = await Promise.all(
    ['ada', 'grace'].map((user) => createLoginStore({ store: shared, codec }, user)),
  )
  await ada?.set('flow 1', 'x')
  await ada?.set('flow 2', 'x')
  await expect(ada?.set('flow 3', 'x')).rejects.toMatchObject({ code: 'quota' })
  await grace?.set('flow 1', 'x')
  expect(await grace?.get('flow 1')).toBe('x')
})

test('a pending login is forgotten after ten minutes, a token after 30 days, and a registration after a year', async () => {
  const start = Date.now()
  let now = start
  const runtime = { now: () => now }
  const days = (count: number): number => count * 24 * 3_600_000
  const longLived = sealedState({ keys: [randomKey()], ttlMs: days(365), maxAgeMs: days(365), runtime })
  const store = await createLoginStore({ store: memoryStore({ runtime }), codec: longLived }, 'ada')
  const keys = ['flow a', 'token a', 'client a']
  for (const key of keys) await store.set(key, 'x')
  for (const [atMs, expected] of [
    [599_000, keys],
    [600_001, ['token a', 'client a']],
    [days(30) + 1, ['client a']],
    [days(365) + 1, []],
  ] as const) {
    now = start + atMs
    const found = await Promise.all(keys.map(async (key) => ((await store.get(key)) === undefined ? [] : [key])))
    expect(found.flat()).toEqual(expected)
  }
})
