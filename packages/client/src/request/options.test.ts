import { expect, test } from 'vitest'
import { createCacheStore, createClient } from '../index.ts'
import { hostInfo } from '../testing/scripted-exchange.ts'

test.each<[string, object, string]>([
  ['a cache by its name', { cache: 'ada' }, 'createClient: cache must be false, or a partition, such as'],
  [
    'a store in place of its partition',
    { cache: createCacheStore() },
    'createClient: cache must be false, or a partition',
  ],
  ['a handler that is none', { elicit: true }, 'createClient: elicit must be a function, and is a boolean'],
  ['one middleware without a list', { use: () => {} }, 'createClient: use must be an array of functions'],
  ['capabilities in a list', { capabilities: ['roots'] }, 'createClient: capabilities must be an object'],
  ['a name that is no text', { name: 5 }, 'createClient: name must be a string, and is a number'],
  ['one extension without a list', { extensions: {} }, 'createClient: extensions must be an array of extensions'],
])('a client is refused with %s', (_, options, message) => {
  expect(() => createClient(() => Promise.reject(new Error('unused')), { ...hostInfo, ...options })).toThrow(message)
})

test('a client takes a partition of a store, or no cache', () => {
  for (const cache of [false, createCacheStore().partition('ada')] as const)
    expect(() => createClient(() => Promise.reject(new Error('unused')), { ...hostInfo, cache })).not.toThrow()
})
