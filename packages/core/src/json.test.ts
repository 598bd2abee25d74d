import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cloneJson, copyJson, findJsonProblem, isJson, type JsonRules, parseJson, parseJsonObject } from './json.ts'

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)
const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

/** Any JSON value. The round trip removes the negative zeros of `jsonValue`, because JSON has none. */
const anyJson = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)))

describe('a text', () => {
  test.each([
    ['an object', '{"a":[1]}', { a: [1] }, { a: [1] }],
    ['an array', '[1]', [1], undefined],
    ['null', 'null', null, undefined],
    ['a string', '"{}"', '{}', undefined],
    ['no characters', '', undefined, undefined],
    ['HTML', '<html>', undefined, undefined],
    ['a truncated object', '{"a":', undefined, undefined],
  ])('of %s is parsed, or undefined', (_, text, value, object) => {
    expect([parseJson(text), parseJsonObject(text)]).toEqual([value, object])
  })
})

describe('the first value that JSON cannot represent', () => {
  const rules = { maxDepth: 3 }
  test.each<[string, unknown, JsonRules, readonly string[], string]>([
    ['undefined', undefined, rules, [], 'not_json'],
    ['a function', { a: [() => {}] }, rules, ['a', '0'], 'not_json'],
    ['a symbol', [1, Symbol('s')], rules, ['1'], 'not_json'],
    ['a bigint', { n: 1n }, rules, ['n'], 'not_json'],
    ['NaN', { deep: { number: Number.NaN } }, rules, ['deep', 'number'], 'not_json'],
    ['infinity', [Number.NEGATIVE_INFINITY], rules, ['0'], 'not_json'],
    ['a hole', Object.assign([], { length: 1 }), rules, ['0'], 'not_json'],
    ['the first of two', { a: 1, b: 2n, c: Number.NaN }, rules, ['b'], 'not_json'],
    ['a level too many', [[], [[[]]]], rules, ['1', '0', '0'], 'too_deep'],
    ['a cycle', cyclic, rules, ['self', 'self', 'self'], 'too_deep'],
    [
      'a rejected object',
      [{ at: new Date(0) }],
      { ...rules, acceptsObject: (o) => !(o instanceof Date) },
      ['0', 'at'],
      'not_json',
    ],
    [
      'a level too many beside NaN',
      [Number.NaN, [[[]]]],
      { ...rules, acceptsLeaves: true },
      ['1', '0', '0'],
      'too_deep',
    ],
  ])('is found with its path: %s', (_, value, applied, path, reason) => {
    const problem = findJsonProblem(value, applied)
    expect(problem).toMatchObject({ path, reason })
    expect(copyJson(value, applied)).toEqual({ problem })
  })

  test.each<[string, unknown, JsonRules]>([
    ['an undefined member', { a: undefined }, rules],
    ['an instance of a class', [new Date(0)], rules],
    ['as many levels as allowed', { a: [{ b: 1 }] }, rules],
    ['an inherited function', Object.create({ inherited() {} }), rules],
    ['any leaf if only the depth is checked', [undefined, () => {}, 1n, Number.NaN], { ...rules, acceptsLeaves: true }],
  ])('is not %s', (_, value, applied) => {
    expect(findJsonProblem(value, applied)).toBeUndefined()
  })

  test('is undefined for any parsed JSON, and is the value that was inserted into it', () => {
    fc.assert(
      fc.property(anyJson, fc.array(fc.oneof(fc.string(), fc.constant(0)), { maxLength: 5 }), (json, steps) => {
        expect(findJsonProblem(json, { maxDepth: 100 })).toBeUndefined()
        const value = steps.reduceRight<unknown>(
          (member, step) => (step === 0 ? [member] : { before: json, [`k${step}`]: member }),
          Number.NaN,
        )
        const path = steps.map((step) => (step === 0 ? '0' : `k${step}`))
        expect(findJsonProblem(value, { maxDepth: 100 })).toEqual({ path, reason: 'not_json', value: Number.NaN })
      }),
    )
  })
})

test('a value as deep as the limit of messages is JSON, and a value one level deeper is not', () => {
  expect([isJson(nested(256)), isJson(nested(257)), isJson(cyclic)]).toEqual([true, false, false])
})

describe('a copy', () => {
  test('equals the original, for any value', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(cloneJson(value)).toEqual(value)
        expect(copyJson(value, { maxDepth: 100, isFrozen: true })).toEqual({ value })
      }),
    )
  })

  test.each(['__proto__', 'constructor', 'toString'])('has a key named %s as its own', (key) => {
    const object = JSON.parse(`{"${key}":{"a":1}}`)
    const copy = cloneJson(object)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(object))
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })

  test('shares nothing with the original, and has neither undefined members, symbols nor a negative zero', () => {
    const original = { list: [{ a: -0 }], left: undefined, [Symbol('s')]: 1 }
    const copy = copyJson(original, { maxDepth: 100 })
    original.list[0] = { a: 2 }
    expect(copy).toStrictEqual({ value: { list: [{ a: 0 }] } })
  })

  test('is deeply frozen with `isFrozen`', () => {
    const copy = copyJson({ a: [{ b: {} }] }, { maxDepth: 100, isFrozen: true })
    expect(copy).toHaveProperty('value.a.0.b')
    const frozen: unknown[] = []
    JSON.stringify(copy, (_, member: unknown) => (frozen.push(Object.isFrozen(member)), member))
    expect(frozen.slice(1).every(Boolean)).toBe(true)
  })
})
