import { describe, expect, test } from 'vitest'
import * as portable from '../index.ts'
import { memoryStore, randomKey, sealed, singleUse, type StateStore, stored } from '../node.ts'

const claims = { purpose: 'tools/call', binding: 'ada' }
const start = 1_800_000_000_000

/** A store that shows what it holds. */
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
      await stored({ store }).seal('x'.repeat(100_000), claims),
      await stored({ store }).seal(1, claims),
    ]
    expect(one).toMatch(/^[\w-]{43}$/)
    expect(one).not.toBe(other)
    expect(await portable.stored({ store }).open(one, claims)).toBe('x'.repeat(100_000))
  })

  test('cannot be opened by who reads the store: its handle is not in it', async () => {
    const { store, held } = openStore()
    const token = await stored({ store }).seal(1, claims)
    expect(JSON.stringify([...held])).not.toContain(token)
    for (const key of held.keys())
      await expect(stored({ store }).open(key, claims)).rejects.toMatchObject({ code: 'malformed' })
  })

  test.each([
    ['a handle that was never given', 'A'.repeat(43), claims, 'missing'],
    ['half a handle', 'A'.repeat(21), claims, 'malformed'],
    ['another principal', undefined, { ...claims, binding: 'eve' }, 'binding'],
    ['another purpose', undefined, { ...claims, purpose: 'other' }, 'purpose'],
    ['another audience', undefined, { ...claims, audience: 'other' }, 'audience'],
  ])('is refused for %s', async (_, token, other, code) => {
    const { store } = openStore()
    const handle = await stored({ store }).seal(1, claims)
    await expect(stored({ store }).open(token ?? handle, other)).rejects.toMatchObject({ code })
  })

  test('expires by its own time, whatever the store still has', async () => {
    const { store } = openStore()
    const at = (now: number) => stored({ store, ttlMs: 1000, clock: { now: () => now } })
    const token = await at(start).seal(1, claims)
    expect(await at(start + 999).open(token, claims)).toBe(1)
    await expect(at(start + 1000).open(token, claims)).rejects.toMatchObject({ code: 'expired' })
  })

  test('past the bound is refused with its largest entries', async () => {
    const codec = stored({ store: memoryStore(), maxBytes: 1000 })
    await expect(codec.seal({ a: { b: 'x'.repeat(2000) }, c: 1 }, claims)).rejects.toThrow('a.b (2002 bytes)')
  })

  test('in a store that fails is unavailable, with the reason for the log alone', async () => {
    const fail = async (): Promise<never> => {
      throw new Error('connect ECONNREFUSED 10.0.0.5')
    }
    const codec = stored({ store: { add: fail, get: fail, delete: fail } })
    const refusal = {
      code: 'unavailable',
      message: 'Invalid or expired state',
      detail: expect.stringContaining('ECONNREFUSED'),
    }
    await expect(codec.seal(1, claims)).rejects.toMatchObject(refusal)
    await expect(codec.open('A'.repeat(43), claims)).rejects.toMatchObject(refusal)
  })
})

describe('a single use', () => {
  const keys = [randomKey()]

  test('is over after one opening, on every instance [MRT-013]', async () => {
    const store = memoryStore()
    const [one, other] = [singleUse(sealed({ keys }), store), portable.singleUse(portable.sealed({ keys }), store)]
    const token = await one.seal('once', claims)
    expect(await other.open(token, claims)).toBe('once')
    for (const codec of [one, other]) await expect(codec.open(token, claims)).rejects.toMatchObject({ code: 'used' })
  })

  test('is not spent by those who may not open', async () => {
    const codec = singleUse(sealed({ keys }), memoryStore({ maxEntries: 1 }))
    const token = await codec.seal('once', claims)
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(codec.open(token, { ...claims, binding: 'eve' })).rejects.toMatchObject({ code: 'binding' })
    }
    expect(await codec.open(token, claims)).toBe('once')
  })

  test('is remembered for as long as the token could open', async () => {
    let now = start
    const clock = { now: () => now }
    const codec = singleUse(sealed({ keys, clock, ttlMs: 2000, maxAgeMs: 2000 }), memoryStore({ clock }))
    const token = await codec.seal('once', claims)
    await codec.open(token, claims)
    for (let passed = 0; passed < 40_000; passed += 100) {
      now = start + passed
      await expect(codec.open(token, claims)).rejects.toMatchObject({ code: passed < 2000 ? 'used' : 'expired' })
    }
  })

  test('is not granted when the store cannot remember it', async () => {
    const full = memoryStore({ maxEntries: 1 })
    await full.add('other', '1', 1e9)
    const codec = singleUse(sealed({ keys }), full)
    await expect(codec.open(await codec.seal(1, claims), claims)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('needs a codec that says how long its tokens live', () => {
    const { seal, open } = sealed({ keys })
    expect(() => singleUse({ seal, open }, memoryStore())).toThrow('needs a codec with lifetimeMs')
  })
})
