import { describe, expect, test } from 'vitest'
import { checkOptions } from './check-options.ts'

interface Options {
  readonly auth?: string | undefined
  readonly limits?: { readonly calls?: number } | undefined
  readonly allowedHosts?: readonly string[] | undefined
  readonly ttlMs?: number | undefined
}

const knownOptions = { auth: true, limits: true, allowedHosts: true, ttlMs: true } satisfies Record<keyof Options, true>

describe('options that exist', () => {
  test.each<[string, object]>([
    ['some options', { auth: 'a', limits: {} }],
    ['an unknown option that is undefined', { principal: undefined }],
  ])('%s', (_, options) => {
    expect(() => checkOptions(options, knownOptions, 'serve')).not.toThrow()
  })
})

describe('an option that does not exist is rejected by name', () => {
  test.each<[string, object, string]>([
    ['with an earlier name', { principal: 'a' }, 'serve has no option `principal`: did you mean `auth`?'],
    ['that moved to a group', { maxCallsPerCaller: 1 }, 'did you mean `limits.calls`?'],
    ['with a misspelt name', { alowedHosts: [] }, 'did you mean `allowedHosts`?'],
    ['in another letter case', { allowedhosts: [] }, 'did you mean `allowedHosts`?'],
    ['without its unit', { ttl: 1 }, 'did you mean `ttlMs`?'],
    ['in the singular', { allowedHost: 'a' }, 'did you mean `allowedHosts`?'],
    ['unlike any option', { port: 1 }, 'serve has no option `port`: write one of allowedHosts, auth, limits, ttlMs'],
    [
      'whose present name is not an option of this function',
      { codec: 1 },
      'write one of allowedHosts, auth, limits, ttlMs',
    ],
    ['with the name of a member of every object', { toString: () => '' }, 'serve has no option `toString`'],
  ])('%s', (_, options, message) => {
    expect(() => checkOptions(options, knownOptions, 'serve')).toThrow(message)
    expect(() => checkOptions(options, knownOptions, 'serve')).toThrow(TypeError)
  })
})

test.each<[unknown, string]>([
  [undefined, 'nothing'],
  [null, 'null'],
  ['a key', 'a string'],
  [3000, 'a number'],
  [['a'], 'an array'],
])('%j for the options is rejected without its content', (options, description) => {
  expect(() => checkOptions(options as object, knownOptions, 'serve')).toThrow(
    new TypeError(`serve takes an object of options, and was given ${description}`),
  )
})
