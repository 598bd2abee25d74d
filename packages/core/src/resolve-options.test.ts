import { describe, expect, test } from 'vitest'
import { objectWith, type OptionTable, optionTypes, resolveOptions } from './resolve-options.ts'

interface Options {
  readonly auth?: string | undefined
  readonly limits?: { readonly calls?: number } | false | undefined
  readonly polling?: { readonly minMs?: number | undefined } | undefined
  readonly allowedHosts?: readonly string[] | undefined
  readonly ttlMs?: number | null | undefined
  readonly isOpen?: boolean | undefined
  readonly rules?:
    | {
        readonly names?: readonly string[]
        readonly renamed?: Readonly<Record<string, string>>
        readonly store?: object
      }
    | undefined
}

const table = {
  auth: undefined,
  limits: { group: { calls: undefined } },
  polling: { default: {}, group: { minMs: 50 } },
  allowedHosts: { default: ['localhost'] },
  ttlMs: { default: 1000, max: 5000, isNullable: true },
  isOpen: { default: false, type: optionTypes.boolean },
  rules: {
    type: optionTypes.object,
    group: {
      names: { type: optionTypes.strings },
      renamed: { type: optionTypes.texts },
      store: { type: objectWith(['get', 'add'], 'a store') },
      limits: { group: { calls: undefined } },
    },
  },
} satisfies OptionTable<Options>
const resolve = (options: object) => resolveOptions<Options, typeof table>(options, table, 'serve')

describe('options that exist', () => {
  test.each<[string, object]>([
    ['some options', { auth: 'a', limits: {} }],
    ['an unknown option that is undefined', { principal: undefined }],
  ])('%s', (_, options) => {
    expect(() => resolve(options)).not.toThrow()
  })
})

describe('an option that does not exist is rejected by name', () => {
  test.each<[string, object, string]>([
    ['with an earlier name', { principal: 'a' }, 'serve has no option `principal`: did you mean `auth`?'],
    ['that moved to a group', { maxCallsPerCaller: 1 }, 'did you mean `limits.calls`?'],
    ['in a group of a group', { rules: { limits: { call: 1 } } }, 'serve, rules.limits, has no option `call`: did you'],
    ['in a group', { limits: { call: 1 } }, 'serve, limits, has no option `call`: did you mean `calls`?'],
    ['with a misspelt name', { alowedHosts: [] }, 'did you mean `allowedHosts`?'],
    ['in another letter case', { allowedhosts: [] }, 'did you mean `allowedHosts`?'],
    ['without its unit', { ttl: 1 }, 'did you mean `ttlMs`?'],
    ['with two letters swapped', { atuh: 'a' }, 'did you mean `auth`?'],
    ['in the singular', { allowedHost: 'a' }, 'did you mean `allowedHosts`?'],
    [
      'unlike any option',
      { port: 1 },
      'serve has no option `port`: write one of allowedHosts, auth, isOpen, limits, polling, rules, ttlMs',
    ],
    [
      'whose present name is not an option of this function',
      { codec: 1 },
      'write one of allowedHosts, auth, isOpen, limits, polling, rules, ttlMs',
    ],
    ['with the name of a member of every object', { toString: () => '' }, 'serve has no option `toString`'],
  ])('%s', (_, options, message) => {
    expect(() => resolve(options)).toThrow(message)
    expect(() => resolve(options)).toThrow(TypeError)
  })
})

test.each<[unknown, string]>([
  [undefined, 'nothing'],
  [null, 'null'],
  ['a key', 'a string'],
  [3000, 'a number'],
  [['a'], 'an array'],
])('%j for the options is rejected without its content', (options, description) => {
  expect(() => resolve(options as object)).toThrow(
    new TypeError(`serve takes an object of options, and was given ${description}`),
  )
})

describe('an option of another type is rejected by name', () => {
  test.each<[string, object, string]>([
    ['a text for a yes or no', { isOpen: 'false' }, 'serve: isOpen must be true or false, and is a string'],
    ['a text for a list', { rules: { names: 'a' } }, 'rules.names must be an array of strings, and is a string'],
    ['a list of something else', { rules: { names: [1] } }, 'serve: rules.names must be an array of strings'],
    ['null', { rules: { names: null } }, 'rules.names must be an array of strings, and is null'],
    ['an object of something else', { rules: { renamed: { a: 1 } } }, 'must be an object whose values are strings'],
    ['a list for an object', { rules: { renamed: ['a'] } }, 'must be an object whose values are strings'],
    ['an object without a function', { rules: { store: { get() {} } } }, 'serve: rules.store must be a store'],
    ['false for a group that is needed', { rules: false }, 'serve: rules must be an object, and is a boolean'],
  ])('%s', (_, options, message) => {
    expect(() => resolve(options)).toThrow(message)
    expect(() => resolve(options)).toThrow(TypeError)
  })

  test('the right types are accepted, also functions of a class', () => {
    const store = new (class {
      get(): void {}
      add(): void {}
    })()
    const options = { isOpen: true, rules: { names: [], renamed: { a: 'b' }, store } }
    expect(resolve(options)).toMatchObject({ isOpen: true, rules: { names: [], renamed: { a: 'b' }, store } })
  })
})

describe('numbers and defaults', () => {
  test('absent options get their defaults', () => {
    expect(resolve({ auth: 'a', ttlMs: undefined, limits: false })).toEqual({
      auth: 'a',
      limits: false,
      polling: { minMs: 50 },
      allowedHosts: ['localhost'],
      ttlMs: 1000,
      isOpen: false,
    })
  })

  test('a number that may be null', () => {
    expect(resolve({ ttlMs: null }).ttlMs).toBeNull()
  })

  test('a number in a group is named with its group', () => {
    const minMs: number = resolve({ polling: { minMs: 60 } }).polling.minMs
    expect(minMs).toBe(60)
    expect(() => resolve({ polling: { minMs: 0 } })).toThrow('polling.minMs is 0: write a whole number from 1')
  })

  test.each([0, 5001, 1.5, '7'])('%j is outside of the bounds', (ttlMs) => {
    expect(() => resolve({ ttlMs })).toThrow(
      new RangeError(`ttlMs is ${JSON.stringify(ttlMs)}: write a whole number from 1 to 5000`),
    )
  })
})
