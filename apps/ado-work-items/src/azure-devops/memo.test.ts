import { expect, test } from 'vitest'
import { createMemo } from './memo.ts'

test('callers that come together share a load, and a later one finds it until its time is over', async () => {
  let time = 0
  let loads = 0
  const get = createMemo(async (key: string) => `${key}${++loads}`, { ttlMs: 100, now: () => time })
  expect(await Promise.all([get('a'), get('a'), get('b')])).toEqual(['a1', 'a1', 'b2'])
  time = 99
  expect(await get('a')).toBe('a1')
  time = 100
  expect(await get('a')).toBe('a3')
})

test('a failure is not kept', async () => {
  let loads = 0
  const load = async () => {
    if (++loads === 1) throw new Error('down')
    return 'up'
  }
  const get = createMemo(load, { ttlMs: 100 })
  await expect(get('a')).rejects.toThrow('down')
  expect(await get('a')).toBe('up')
})

test('beyond its size the oldest result goes', async () => {
  let loads = 0
  const get = createMemo(async (key: string) => `${key}${++loads}`, { ttlMs: 100, size: 2 })
  for (const key of ['a', 'b', 'c']) await get(key)
  expect(await get('c')).toBe('c3')
  expect(await get('a')).toBe('a4')
})
