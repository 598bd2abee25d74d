import { expect, test } from 'vitest'
import { principalIdentity } from './principal-identity.ts'

test.each([
  ['nobody', undefined, null],
  ['a subject alone', { subject: 'a' }, [null, 'a', null]],
  ['all of it, and nothing else', { issuer: 'i', subject: 'a', client: 'c', scopes: ['s'] }, ['i', 'a', 'c']],
])('%s', (_title, principal, identity) => {
  expect(principalIdentity(principal)).toEqual(identity)
})
