import type { JsonValue } from '@x/core'
import fc from 'fast-check'
import * as portable from '../index.ts'
import * as onNode from '../node.ts'
import { describe, expect, test } from 'vitest'
import type { StateErrorCode } from '../state-error.ts'

const platforms = [
  ['node:crypto', onNode, portable],
  ['Web Crypto', portable, onNode],
] as const
const kinds = ['sealedState', 'signedState'] as const
const cases = platforms.flatMap(([name, maker, reader]) => kinds.map((kind) => ({ name, maker, reader, kind })))

const minute = 60_000
const start = 1_800_000_000_000
const [oldKey, newKey] = [onNode.randomKey(), onNode.randomKey()]
const context = { purpose: 'tools/call', binding: { principal: 'ada', tool: 'update', arguments: { id: 4522 } } }

/** The outcome of opening a token: its `value`, or the code of the rejection. */
async function outcome(opening: Promise<JsonValue>): Promise<{ value: JsonValue } | { code: StateErrorCode }> {
  try {
    return { value: await opening }
  } catch (error) {
    if (!onNode.isStateError(error)) throw error
    expect(error.message).toBe('Invalid or expired state')
    return { code: error.code }
  }
}

const anyJson = fc.jsonValue({ maxDepth: 5 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)))

describe.each(cases)('$kind tokens made with $name', ({ maker, reader, kind }) => {
  const keys = [oldKey]

  test('a URL-safe token opens to the JSON value that was sealed, on either platform', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, anyJson, async (value, binding) => {
        const token = await maker[kind]({ keys }).seal(value, { purpose: 'test', binding })
        expect(token).toMatch(/^[A-Za-z0-9._-]+$/)
        expect(await reader[kind]({ keys }).open(token, { purpose: 'test', binding })).toEqual(value)
        expect(await maker[kind]({ keys }).open(token, { purpose: 'test', binding })).toEqual(value)
      }),
      { numRuns: 50 },
    )
  })

  test('a token with any one character changed does not open [MRT-009]', async () => {
    const token = await maker[kind]({ keys }).seal({ secret: 'value' }, context)
    const codec = reader[kind]({ keys })
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/~ '
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet), async (at, character) => {
        fc.pre(token[at] !== character)
        const altered = token.slice(0, at) + character + token.slice(at + 1)
        const refused = await outcome(codec.open(altered, context))
        expect(['malformed', 'forged', 'unknown_key', 'purpose']).toContain('code' in refused ? refused.code : 'opened')
      }),
      { numRuns: 400 },
    )
  })

  test('every single bit of every byte counts', async () => {
    const token = await maker[kind]({ keys }).seal('v', context)
    const codec = reader[kind]({ keys })
    const segments = token.split('.')
    for (const [index, segment] of segments.entries()) {
      const bytes = Buffer.from(segment, 'base64url')
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const altered = Buffer.from(bytes)
        altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const forged = segments.with(index, altered.toString('base64url')).join('.')
        expect(await outcome(codec.open(forged, context))).toHaveProperty('code')
      }
    }
  })

  test('a token cut short or made longer anywhere does not open [MRT-009]', async () => {
    const token = await maker[kind]({ keys }).seal({ list: [1, 2, 3] }, context)
    const codec = reader[kind]({ keys })
    for (let length = 0; length < token.length; length++) {
      expect(await outcome(codec.open(token.slice(0, length), context))).toHaveProperty('code')
      expect(await outcome(codec.open(token.slice(length + 1), context))).toHaveProperty('code')
    }
    for (const extra of ['.', 'A', 'AA', 'AAAA', '=', '\n', ' ', '\0', '.e30']) {
      expect(await outcome(codec.open(token + extra, context))).toEqual({ code: 'malformed' })
      expect(await outcome(codec.open(extra + token, context))).toHaveProperty('code')
    }
  })

  test('a token written in another encoding of the same bytes does not open', async () => {
    const codec = reader[kind]({ keys })
    // Lengths vary, so that the content ends in every kind of remainder.
    for (const value of ['', 'a', 'ab', 'abc', 'abcd']) {
      const token = await maker[kind]({ keys }).seal(value, context)
      const segments = token.split('.')
      for (const [index, segment] of segments.entries()) {
        const last = segment.at(-1)
        const sameBytes = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
          .map((character) => segment.slice(0, -1) + character)
          .filter((other) => other !== segment && last !== undefined)
          .filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(segment, 'base64url')))
        for (const other of [...sameBytes, `${segment}=`, `${segment}==`, `${segment} `]) {
          expect(await outcome(codec.open(segments.with(index, other).join('.'), context))).toHaveProperty('code')
        }
      }
    }
  })

  test.each([
    ['another purpose', { ...context, purpose: 'prompts/get' }, kind === 'sealedState' ? 'forged' : 'purpose'],
    ['another audience', { ...context, audience: 'billing' }, 'audience'],
    ['another principal', { ...context, binding: { ...context.binding, principal: 'eve' } }, 'binding'],
    ['another tool', { ...context, binding: { ...context.binding, tool: 'delete' } }, 'binding'],
    ['other arguments', { ...context, binding: { ...context.binding, arguments: { id: 1 } } }, 'binding'],
    ['no binding', { purpose: 'tools/call' }, 'binding'],
    ['a null for a binding', { purpose: 'tools/call', binding: null }, 'binding'],
  ] as const)('with %s it does not open [MRT-010 MRT-012]', async (_, other, code) => {
    const token = await maker[kind]({ keys, audience: 'tickets' }).seal(1, context)
    const codec = reader[kind]({ keys, audience: 'tickets' })
    expect(await outcome(codec.open(token, context))).toEqual({ value: 1 })
    expect(await outcome(codec.open(token, other))).toEqual({ code })
  })

  test('it opens for its own purpose, audience and binding alone', async () => {
    const some = fc.record({
      purpose: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }),
      audience: fc.option(fc.constantFrom('a', 'b', 'A'), { nil: undefined }),
      binding: fc.option(anyJson, { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(some, some, async (mine, yours) => {
        const token = await maker[kind]({ keys }).seal('mine', mine)
        const codec = reader[kind]({ keys })
        expect(await outcome(codec.open(token, mine))).toEqual({ value: 'mine' })
        const bound = (one: typeof mine): string =>
          one.binding === undefined ? '' : JSON.stringify(sorted(one.binding))
        const same = mine.purpose === yours.purpose && mine.audience === yours.audience && bound(mine) === bound(yours)
        expect('value' in (await outcome(codec.open(token, yours)))).toBe(same)
      }),
      { numRuns: 100 },
    )
  })

  test('a binding does not depend on the order of its members', async () => {
    const token = await maker[kind]({ keys }).seal(1, {
      purpose: 'test',
      binding: { a: 1, b: [{ c: 2, d: undefined }] },
    })
    expect(await reader[kind]({ keys }).open(token, { purpose: 'test', binding: { b: [{ c: 2 }], a: 1 } })).toBe(1)
  })

  test.each<[string, number, object, StateErrorCode | undefined]>([
    ['at once', 0, {}, undefined],
    ['a moment before it expires', 10 * minute - 1, {}, undefined],
    ['at its expiry', 10 * minute, {}, 'expired'],
    ['before it was made, within the clock skew', -30_000, {}, undefined],
    ['before it was made, beyond the clock skew', -30_001, {}, 'not_yet'],
    ['after its own lifetime', 5 * minute, { ttlMs: 5 * minute }, 'expired'],
    ['in a flow that began in the future', 0, { since: start + 31_000 }, 'not_yet'],
    ['in a flow whose age ends before the token', 5 * minute, { since: start - 55 * minute }, 'expired'],
    ['when the clock returns no number', Number.NaN, {}, 'not_yet'],
  ])('opened %s (%d ms), it is accepted or rejected by the clock [MRT-011]', async (_, later, times, code) => {
    const options = { keys, ttlMs: 10 * minute, maxAgeMs: 60 * minute }
    const token = await maker[kind]({ ...options, runtime: { now: () => start } }).seal(1, { ...context, ...times })
    const codec = reader[kind]({ ...options, runtime: { now: () => start + later } })
    expect(await outcome(codec.open(token, context))).toEqual(code === undefined ? { value: 1 } : { code })
  })

  test('a flow past its age neither opens nor seals [MRT-011]', async () => {
    const at = (now: number, maxAgeMs: number) => ({ keys, ttlMs: minute, maxAgeMs, runtime: { now: () => now } })
    const token = await maker[kind](at(start, 60 * minute)).seal(1, { ...context, since: start - 50 * minute })
    expect(await outcome(reader[kind](at(start, 50 * minute)).open(token, context))).toEqual({ code: 'too_old' })
    const late = maker[kind](at(start, 60 * minute)).seal(1, { ...context, since: start - 60 * minute })
    await expect(late).rejects.toMatchObject({ name: 'StateError', code: 'too_old' })
  })

  test.each<[string, readonly onNode.KeyInput[], StateErrorCode | undefined]>([
    ['the key first', [oldKey], undefined],
    ['the key last', [newKey, oldKey], undefined],
    ['the key removed', [newKey], 'unknown_key'],
    ['another key of the same id', [{ id: 'k1', key: newKey }], 'forged'],
    ['the key under another id', [{ id: 'k2', key: oldKey }], 'unknown_key'],
  ])('with %s in the ring, it opens when it should', async (_, ring, code) => {
    const named = ring.some((key) => typeof key === 'object')
    const token = await maker[kind]({ keys: [named ? { id: 'k1', key: oldKey } : oldKey] }).seal(1, context)
    expect(await outcome(reader[kind]({ keys: ring }).open(token, context))).toEqual(
      code === undefined ? { value: 1 } : { code },
    )
  })

  test('a token of another kind does not open with the same key', async () => {
    const other = kind === 'sealedState' ? 'signedState' : 'sealedState'
    const codec = reader[kind]({ keys })
    const content = Buffer.from(JSON.stringify({ at: start, until: start * 2, since: start, value: 1 })).toString(
      'base64url',
    )
    const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url')
    const foreign = [
      await maker[other]({ keys }).seal(1, context),
      await maker.plainState({ insecure: true }).seal(1, context),
      `${header({ alg: 'none' })}.${content}.`,
      `${header({ alg: 'none' })}.${content}.${'A'.repeat(43)}`,
      `${header({ alg: 'dir', enc: 'A128GCM', kid: 'x', typ: 'tools/call' })}..${'A'.repeat(16)}.AAAA.${'A'.repeat(22)}`,
    ]
    for (const token of foreign) expect(await outcome(codec.open(token, context))).toHaveProperty('code')
  })

  test('names of the list are a part of the format: a list with more of them opens older tokens, one with fewer no newer ones', async () => {
    const value = { flow: 1, round: 2, other: [3] }
    const token = await maker[kind]({ keys }).seal(value, { ...context, memberNames: ['flow', 'round'] })
    const open = (names: readonly string[]) =>
      outcome(reader[kind]({ keys }).open(token, { ...context, memberNames: names }))
    expect(await open(['flow', 'round', 'other'])).toEqual({ value })
    // A signed token is readable, and has its names in full.
    expect(await open(['flow'])).toEqual(kind === 'sealedState' ? { code: 'malformed' } : { value })
  })

  test('a token past the limit is rejected before it is parsed', async () => {
    const codec = reader[kind]({ keys })
    expect(await outcome(codec.open('A'.repeat(32_769), context))).toEqual({ code: 'too_large' })
  })

  test('a value past the limit is rejected with its largest entries by path', async () => {
    const value = { answers: { name: 'Ada' }, steps: { plan: { text: 'x'.repeat(40_000) }, note: 'y'.repeat(9_000) } }
    const sealing = maker[kind]({ keys }).seal(value, context)
    await expect(sealing).rejects.toThrow(
      'the limit is 32768. The largest entries: steps.plan.text (40002 bytes), steps.note (9002 bytes)',
    )
    await expect(sealing).rejects.toMatchObject({ name: 'StateUsageError', code: 'too_large' })
  })

  test('noise of any form is rejected with a StateError', async () => {
    const codec = reader[kind]({ keys })
    const part = fc.oneof(fc.base64String(), fc.string(), fc.json())
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        expect(await outcome(codec.open(parts.join('.'), context))).toHaveProperty('code')
      }),
      { numRuns: 300 },
    )
  })
})

test('a sealed token reveals nothing of its value, and two tokens of the same value differ', async () => {
  const codec = onNode.sealedState({ keys: [oldKey] })
  const [one, other] = [await codec.seal('hunter2', context), await codec.seal('hunter2', context)]
  expect(one).not.toBe(other)
  const shown = one.split('.').map((segment) => Buffer.from(segment, 'base64url').toString('latin1'))
  expect(shown.join('')).not.toContain('hunter2')
})

test('values of equal length have tokens of equal length: nothing is compressed', async () => {
  const codec = onNode.sealedState({ keys: [oldKey] })
  const lengths = ['a'.repeat(500), onNode.randomKey().repeat(8).slice(0, 500)].map(
    async (value) => (await codec.seal(value, context)).length,
  )
  expect(new Set(await Promise.all(lengths)).size).toBe(1)
})

test('the cache of purposes is bounded, and each purpose still opens', async () => {
  const codec = onNode.sealedState({ keys: [oldKey] })
  const tokens = await Promise.all(Array.from({ length: 600 }, (_, at) => codec.seal(at, { purpose: `purpose ${at}` })))
  for (const [at, token] of tokens.entries()) expect(await codec.open(token, { purpose: `purpose ${at}` })).toBe(at)
})

test('both entries export the same names', () => {
  expect(Object.keys(onNode).toSorted()).toEqual(Object.keys(portable).toSorted())
})

test.each([
  ['a Date', { when: new Date(0) }, '"when" is a Date'],
  ['a Map', [new Map()], '"0" is a Map'],
  ['NaN', { deep: { number: Number.NaN } }, '"deep.number" is NaN'],
  ['a bigint', 1n, 'The value is bigint'],
  ['a function', { run() {} }, '"run" is function'],
  ['undefined', undefined, 'The value is undefined'],
  ['a hole', [1, undefined], '"1" is undefined'],
  ['too many levels', JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`), 'nested deeper than 300 levels'],
])('%s is rejected with a message that names its path', async (_, value, message) => {
  const sealing = onNode.sealedState({ keys: [oldKey] }).seal(value as JsonValue, context)
  await expect(sealing).rejects.toMatchObject({ code: 'not_json', message: expect.stringContaining(message) })
})

test.each([
  ['an empty purpose', {}, { purpose: '' }],
  ['a lone surrogate in the purpose', {}, { purpose: '\ud800' }],
  ['an empty audience', { audience: '' }, context],
])('%s is a usage error', async (_, options, mistaken) => {
  const seal = async (): Promise<string> => onNode.sealedState({ keys: [oldKey], ...options }).seal(1, mistaken)
  await expect(seal()).rejects.toMatchObject({ name: 'StateUsageError', code: 'configuration' })
})

test.each([0, Number.NaN, Number.POSITIVE_INFINITY])('a lifetime of %d is rejected as a number', async (ttlMs) => {
  const reason = `ttlMs is ${ttlMs}: write a whole number from 1`
  expect(() => onNode.sealedState({ keys: [oldKey], ttlMs })).toThrow(new RangeError(`${reason} to 86400000`))
  const sealing = async (): Promise<string> => onNode.sealedState({ keys: [oldKey] }).seal(1, { ...context, ttlMs })
  await expect(sealing()).rejects.toThrow(new RangeError(reason))
})

test('a lifetime longer than the age, and a start that is not a number, are rejected as numbers', async () => {
  const options = { keys: [oldKey], ttlMs: 2 * minute, maxAgeMs: minute }
  expect(() => onNode.sealedState(options)).toThrow(
    new RangeError('ttlMs is 120000: write a whole number from 1 to 60000'),
  )
  const sealing = onNode.sealedState({ keys: [oldKey] }).seal(1, { ...context, since: Number.NaN })
  await expect(sealing).rejects.toThrow(new RangeError('since is NaN: write a whole number from 0'))
})

test('plain requires insecure: true and checks its context', async () => {
  expect(() => onNode.plainState({} as never)).toThrow(
    'use sealedState({ keys }), or say plainState({ insecure: true })',
  )
  const codec = portable.plainState({ insecure: true, runtime: { now: () => start } })
  const token = await codec.seal({ readable: true }, context)
  expect(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).toContain('readable')
  expect(await codec.open(token, context)).toEqual({ readable: true })
  const later = onNode.plainState({ insecure: true, runtime: { now: () => start + 61 * minute } })
  expect(await outcome(later.open(token, context))).toEqual({ code: 'expired' })
  expect(await outcome(codec.open(token, { ...context, purpose: 'other' }))).toEqual({ code: 'purpose' })
  expect(await outcome(codec.open(token, { purpose: context.purpose }))).toEqual({ code: 'binding' })
  expect(await outcome(codec.open(`${token}A`, context))).toEqual({ code: 'malformed' })
})

function sorted(value: JsonValue): unknown {
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  if (Array.isArray(value)) return value.map(sorted)
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => [key, sorted(member ?? null), '{}'])
}
