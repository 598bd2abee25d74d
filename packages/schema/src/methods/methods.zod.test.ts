import { examples } from '@tooling/spec'
import { describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { paramsValidators, resultValidators } from '../zod.ts'
import { methods } from './methods.ts'

const complete = { resultType: 'complete' }
const hints = { ttlMs: 5, cacheScope: 'public' }

// The least that each method can answer, without resultType and caching hints.
const bodies = {
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: {} },
  'tools/list': { tools: [] },
  'tools/call': { content: [] },
  'prompts/list': { prompts: [] },
  'prompts/get': { messages: [] },
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'resources/read': { contents: [] },
  'completion/complete': { completion: { values: [] } },
  'subscriptions/listen': { _meta: { 'io.modelcontextprotocol/subscriptionId': 1 } },
}

type Name = keyof typeof bodies
const isName = (name: string): name is Name => Object.hasOwn(bodies, name)
const names = Object.keys(methods).filter(isName)
const cached = names.filter((name) => 'isCacheable' in methods[name])
const asking = names.filter((name) => 'canRequireInput' in methods[name])
const validator = (name: Name): z.ZodMiniType => resultValidators[name]

test('every method of the table has validators', () => {
  expect(Object.keys(paramsValidators).toSorted()).toEqual(Object.keys(methods).toSorted())
  expect(Object.keys(resultValidators).toSorted()).toEqual(Object.keys(methods).toSorted())
  expect(names).toHaveLength(Object.keys(methods).length)
})

describe('the result of a server of an earlier revision', () => {
  test.each(names)('to %s is complete when it does not say so [BAS-011]', (name) => {
    expect(validator(name).parse({ ...hints, ...bodies[name] })).toMatchObject({ ...complete, ...bodies[name] })
  })

  test.each(cached)('to %s is private and stale at once when it does not say so [CCH-012]', (name) => {
    expect(validator(name).parse(bodies[name])).toMatchObject({ ttlMs: 0, cacheScope: 'private' })
  })
})

describe('a result', () => {
  test.each(names)('to %s is kept whole, its unknown keys as well', (name) => {
    const result = { ...complete, ...hints, ...bodies[name], 'com.example/more': [null, 0.5] }
    expect(validator(name).parse(result)).toEqual(result)
  })

  test.each(names)('to %s is refused when its resultType is not known [BAS-010]', (name) => {
    const { error } = validator(name).safeParse({ ...hints, ...bodies[name], resultType: 'task' })
    expect(error?.issues).toMatchObject([{ path: ['resultType'], message: 'expected "complete"' }])
  })

  test.each(cached)('to %s with a negative ttlMs is stale at once [CCH-013]', (name) => {
    const result = { ...complete, ...hints, ...bodies[name], ttlMs: -1 }
    expect(validator(name).parse(result)).toMatchObject({ ttlMs: 0, cacheScope: 'public' })
  })

  test.each(names)('to %s that is no object is refused', (name) => {
    expect([null, [], 'text', undefined].map((value) => validator(name).safeParse(value).success)).toEqual([
      false,
      false,
      false,
      false,
    ])
  })

  test('is rejected with the path and the reason of the problem, even where it could have asked for input', () => {
    const { error } = resultValidators['tools/call'].safeParse({ ...complete, content: 'text' })
    expect(error?.issues).toMatchObject([{ path: ['content'], message: expect.stringContaining('array') }])
  })
})

describe('a result that asks for input', () => {
  const asks = { resultType: 'input_required', requestState: 'state' }

  test.each(asking)('is taken from %s', (name) => {
    expect(validator(name).parse(asks)).toEqual(asks)
  })

  test.each(names.filter((name) => !asking.includes(name)))('is refused from %s', (name) => {
    expect(validator(name).safeParse({ ...hints, ...bodies[name], ...asks }).success).toBe(false)
  })

  test.each(asking)('is refused from %s when it neither asks nor has a state', (name) => {
    const { error } = validator(name).safeParse({ resultType: 'input_required' })
    expect(error?.issues).toMatchObject([{ message: 'expected inputRequests, requestState or both' }])
  })

  test.each(asking)('is refused from %s when what it asks is not an input request', (name) => {
    const inputRequests = { name: { method: 'tools/call', params: {} } }
    expect(validator(name).safeParse({ resultType: 'input_required', inputRequests }).success).toBe(false)
  })
})

const requests = examples().flatMap(({ file, value }) => {
  const { method, params } = Object(value)
  return isName(method) ? [{ file, method, params }] : []
})

test('the published requests cover most methods', () => {
  expect(new Set(requests.map(({ method }) => method)).size).toBeGreaterThan(8)
})

test.each(requests)('the params of $file are params of $method', ({ method, params }) => {
  expect(paramsValidators[method].parse(params)).toEqual(params)
  expect(paramsValidators[method].safeParse({ ...params, _meta: {} }).success).toBe(false)
})
