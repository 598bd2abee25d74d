import { describe, expect, test } from 'vitest'
import * as portable from '../index.ts'
import {
  memoryStore,
  migratingState,
  type OpenOptions,
  randomKey,
  sealedState,
  signedState,
  singleUseState,
  type StateStore,
  storedState,
} from '../node.ts'

const context = { purpose: 'tools/call', binding: 'ada' }
const start = 1_800_000_000_000

/** A store that exposes its content. */
function openStore(): { store: StateStore; held: Map<string, string> } {
  const held = new Map<string, string>()
  const store: StateStore = {
    add: async (key, value) => !held.has(key) && held.set(key, value) !== undefined,
    get: async (key) => held.get(key),
    delete: async (key) => void held.delete(key),
  }
  return { store, held }
}

describe('a stored state', () => {
  test('travels as a random handle of 256 bits, and opens with either platform', async () => {
    const { store } = openStore()
    const [one, other] = [
      await storedState({ store }).seal('x'.repeat(100_000), context),
      await storedState({ store }).seal(1, context),
    ]
    expect(one).toMatch(/^[\w-]{43}$/)
    expect(one).not.toBe(other)
    expect(await portable.storedState({ store }).open(one, context)).toBe('x'.repeat(100_000))
  })

  test('cannot be opened by a reader of the store: its handle is not in it', async () => {
    const { store, held } = openStore()
    const token = await storedState({ store }).seal(1, context)
    expect(JSON.stringify([...held])).not.toContain(token)
    for (const key of held.keys())
      await expect(storedState({ store }).open(key, context)).rejects.toMatchObject({ code: 'malformed' })
  })

  test.each([
    ['a handle that was never issued', 'A'.repeat(43), context, 'missing'],
    ['half a handle', 'A'.repeat(21), context, 'malformed'],
    ['another principal', undefined, { ...context, binding: 'eve' }, 'binding'],
    ['another purpose', undefined, { ...context, purpose: 'other' }, 'purpose'],
    ['another audience', undefined, { ...context, audience: 'other' }, 'audience'],
  ])('is rejected for %s', async (_, token, other, code) => {
    const { store } = openStore()
    const handle = await storedState({ store }).seal(1, context)
    await expect(storedState({ store }).open(token ?? handle, other)).rejects.toMatchObject({ code })
  })

  test('expires by its own time, even if the store still has it', async () => {
    const { store } = openStore()
    const at = (now: number) => storedState({ store, ttlMs: 1000, runtime: { now: () => now } })
    const token = await at(start).seal(1, context)
    expect(await at(start + 999).open(token, context)).toBe(1)
    await expect(at(start + 1000).open(token, context)).rejects.toMatchObject({ code: 'expired' })
  })

  test('past the limit is rejected with its largest entries', async () => {
    const codec = storedState({ store: memoryStore() })
    const value = { a: { b: 'x'.repeat(1_048_577) }, c: 1 }
    await expect(codec.seal(value, context)).rejects.toThrow('a.b (1048579 bytes)')
  })

  test('in a store that fails is unavailable, and the reason is in the log alone', async () => {
    const fail = async (): Promise<never> => {
      throw new Error('connect ECONNREFUSED 10.0.0.5')
    }
    const codec = storedState({ store: { add: fail, get: fail, delete: fail } })
    const refusal = {
      code: 'unavailable',
      message: 'The state store is unavailable',
      detail: expect.stringContaining('ECONNREFUSED'),
    }
    await expect(codec.seal(1, context)).rejects.toMatchObject(refusal)
    await expect(codec.open('A'.repeat(43), context)).rejects.toMatchObject(refusal)
  })

  test('answers a ping while the store does, also behind other codecs', async () => {
    let isReachable = true
    const inner = memoryStore()
    const get = async (key: string): Promise<string | undefined> => {
      if (isReachable) return inner.get(key)
      throw new Error('connect ECONNREFUSED 10.0.0.5')
    }
    const store = { ...inner, get }
    const sealed = sealedState({ keys: [randomKey()] })
    const stored = storedState({ store })
    const needing = [
      stored,
      singleUseState(sealed, store),
      singleUseState(stored, memoryStore()),
      migratingState({ phase: 'store', state: sealed, store }),
      migratingState({ phase: 'dual', state: sealed, store }),
    ]
    const independent = migratingState({ phase: 'state-first', state: sealed, store })
    for (const codec of [...needing, independent]) await expect(codec.ping?.()).resolves.toBeUndefined()
    isReachable = false
    for (const codec of needing) await expect(codec.ping?.()).rejects.toMatchObject({ code: 'unavailable' })
    await expect(independent.ping?.()).resolves.toBeUndefined()
    expect(sealed.ping).toBeUndefined()
  })

  test('answers no ping after a write that failed, until its store can write again [UNA-004]', async () => {
    const inner = memoryStore()
    let isFull = false
    const add: StateStore['add'] = (...values) =>
      isFull ? Promise.reject(new Error('No space left on device')) : inner.add(...values)
    const codec = storedState({ store: { ...inner, add } })
    isFull = true
    await expect(codec.ping?.()).resolves.toBeUndefined()
    await expect(codec.seal(1, context)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(codec.ping?.()).rejects.toMatchObject({ code: 'unavailable' })
    isFull = false
    await expect(codec.ping?.()).resolves.toBeUndefined()
  })
})

describe('a single use', () => {
  const keys = [randomKey()]

  test('is rejected after one opening, on every instance [MRT-013]', async () => {
    const store = memoryStore()
    const [one, other] = [
      singleUseState(sealedState({ keys }), store),
      portable.singleUseState(portable.sealedState({ keys }), store),
    ]
    const token = await one.seal('once', context)
    expect(await other.open(token, context)).toBe('once')
    for (const codec of [one, other]) await expect(codec.open(token, context)).rejects.toMatchObject({ code: 'used' })
  })

  test('opens again if it is reusable, also around a migration', async () => {
    const sealed = sealedState({ keys })
    for (const inner of [sealed, migratingState({ phase: 'state', state: sealed })]) {
      const codec = singleUseState(inner, memoryStore())
      const token = await codec.seal('often', context)
      for (let use = 0; use < 3; use++) expect(await codec.open(token, { ...context, reusable: true })).toBe('often')
      expect(await codec.open(token, context)).toBe('often')
      await expect(codec.open(token, context)).rejects.toMatchObject({ code: 'used' })
    }
  })

  test('is not consumed by a caller that may not open it', async () => {
    const codec = singleUseState(sealedState({ keys }), memoryStore({ maxEntries: 1 }))
    const token = await codec.seal('once', context)
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(codec.open(token, { ...context, binding: 'eve' })).rejects.toMatchObject({ code: 'binding' })
    }
    expect(await codec.open(token, context)).toBe('once')
  })

  test('is remembered for as long as the token could open', async () => {
    let now = start
    const clock = { now: () => now }
    const codec = singleUseState(
      sealedState({ keys, runtime: clock, ttlMs: 2000, maxAgeMs: 2000 }),
      memoryStore({ runtime: clock }),
    )
    const token = await codec.seal('once', context)
    await codec.open(token, context)
    for (let passed = 0; passed < 40_000; passed += 100) {
      now = start + passed
      await expect(codec.open(token, context)).rejects.toMatchObject({ code: passed < 2000 ? 'used' : 'expired' })
    }
  })

  test('is rejected when the store cannot remember it', async () => {
    const full = memoryStore({ maxEntries: 1 })
    await full.add('other', '1', 1e9)
    const codec = singleUseState(sealedState({ keys }), full)
    await expect(codec.open(await codec.seal(1, context), context)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('is forgotten when its token has expired: the next ones fit', async () => {
    let now = start
    const clock = { now: () => now }
    const store = memoryStore({ runtime: clock, maxEntries: 10 })
    for (const codec of [
      sealedState({ keys, runtime: clock }),
      signedState({ keys, runtime: clock }),
      storedState({ store: memoryStore(), runtime: clock }),
    ]) {
      const once = singleUseState(codec, store)
      for (let round = 0; round < 10; round++)
        await once.open(await once.seal(round, { ...context, ttlMs: 60_000 }), context)
      const next = await once.seal('next', { ...context, ttlMs: 600_000 })
      await expect(once.open(next, context)).rejects.toMatchObject({ code: 'unavailable' })
      // Its own expiry, and the difference of two clocks.
      now += 60_000 + 30_000
      expect(await once.open(next, context)).toBe('next')
      now += 3_600_000
    }
  })

  test('of a codec that does not say when its tokens expire is remembered for all of its lifetime', async () => {
    let now = start
    const { seal, open, lifetimeMs } = sealedState({ keys })
    const silent = { seal, open: (token: string, { onOpen: _, ...own }: OpenOptions) => open(token, own), lifetimeMs }
    const store = memoryStore({ runtime: { now: () => now }, maxEntries: 1 })
    const codec = singleUseState(silent, store)
    await codec.open(await codec.seal(1, context), context)
    now += (lifetimeMs ?? 0) - 1
    await expect(store.add('other', '1', 1)).rejects.toMatchObject({ code: 'unavailable' })
    now += 1
    expect(await store.add('other', '1', 1)).toBe(true)
  })

  test('needs a codec that has lifetimeMs', () => {
    const { seal, open } = sealedState({ keys })
    expect(() => singleUseState({ seal, open }, memoryStore())).toThrow('needs a codec with lifetimeMs')
  })
})

describe('a value that another one replaces', () => {
  test('is deleted when that one is opened, by whichever instance, and in a store that cannot let keys expire as well', async () => {
    const { store, held } = openStore()
    const first = await storedState({ store }).seal(1, context)
    const second = await portable.storedState({ store }).seal(2, { ...context, replaces: first })
    expect([held.size, await storedState({ store }).open(first, context)]).toEqual([2, 1])
    expect(await storedState({ store }).open(second, context)).toBe(2)
    expect(held.size).toBe(1)
    await expect(storedState({ store }).open(first, context)).rejects.toMatchObject({ code: 'missing' })
    expect(JSON.stringify([...held])).not.toContain(first)
  })

  test('is deleted by a migration too, which knows its handle', async () => {
    const { store, held } = openStore()
    const codec = migratingState({ phase: 'dual', state: sealedState({ keys: [randomKey()] }), store })
    const first = await codec.seal(1, context)
    const second = await codec.seal(2, { ...context, replaces: first })
    expect([held.size, await codec.open(first, context), await codec.open(second, context), held.size]).toEqual([
      2, 1, 2, 1,
    ])
  })

  test('does not take room from others: a value of another codec replaces nothing', async () => {
    const { store, held } = openStore()
    const codec = storedState({ store })
    await codec.open(await codec.seal(2, { ...context, replaces: 'a.b.c' }), context)
    expect(held.size).toBe(1)
  })
})
