import { describe, expect, test } from 'vitest'
import { readRequirements, selectScenarios } from './requirements.ts'

const listing = `Required for 2026-07-28 (69 scenarios, frozen; run at the 2026-07-28 wire):

Server scenarios (test against a server):
  - server-stateless
  - tools-list

Client scenarios (test against a client):
  - auth/basic-cimd

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
  pending (1):
    - json-schema-2020-12 [server]
`

describe('the listing of requirements', () => {
  test('has the scored and the other scenarios of the server leg', () => {
    expect(readRequirements(listing, 'server')).toEqual({
      scored: ['server-stateless', 'tools-list'],
      others: ['tasks-lifecycle', 'json-schema-2020-12'],
    })
  })

  test('has the scored and the other scenarios of the client leg', () => {
    expect(readRequirements(listing, 'client')).toEqual({ scored: ['auth/basic-cimd'], others: ['auth/dpop'] })
  })

  test('is rejected if it lists no scenario, because an empty run passes', () => {
    expect(() => readRequirements('unknown revision', 'client')).toThrow('lists no client scenario')
  })
})

describe('a selection by name', () => {
  const all = { scored: ['a', 'b'], others: ['c'] }

  test('without names has all scenarios', () => {
    expect(selectScenarios(all, [])).toEqual(all)
  })

  test('keeps the order of the suite', () => {
    expect(selectScenarios(all, ['c', 'a'])).toEqual({ scored: ['a'], others: ['c'] })
  })

  test('is rejected with a list of the known scenarios if one is unknown', () => {
    expect(() => selectScenarios(all, ['d'])).toThrow(/unknown scenario d; known are:\s+a\s+b\s+c/)
  })
})
