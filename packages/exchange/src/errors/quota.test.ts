import { expect, test } from 'vitest'
import { errorCodes, toWire } from '@x/schema'
import { callerKeyOf, clientAddressKey, createCall, withContext, principalIdentityOf } from '../call/call-context.ts'
import { quotaError } from './quota.ts'

const at = (address: string) => callerKeyOf(withContext(createCall(), clientAddressKey, address))

test('the key of a caller with a principal does not depend on its address, scopes and claims', () => {
  const ada = { issuer: 'https://a.example', subject: 'ada', client: 'host' }
  const here = callerKeyOf(createCall({ principal: { ...ada, scopes: ['read'] } }))
  const there = callerKeyOf(
    withContext(createCall({ principal: { ...ada, claims: {} } }), clientAddressKey, '192.0.2.1'),
  )
  expect(there).toBe(here)
  for (const other of [{ ...ada, issuer: 'https://b.example' }, { ...ada, client: 'other' }, { subject: 'ada' }]) {
    expect(callerKeyOf(createCall({ principal: other }))).not.toBe(here)
  }
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::6]:4711', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['stdio', 'stdio'],
])('a caller without a principal is its address: %s is %s', (address, key) => {
  expect(at(address)).toBe(key)
})

test('callers without a principal and without an address are one', () => {
  expect(callerKeyOf(createCall())).toBe(callerKeyOf(createCall()))
})

test('no address takes the quota of a principal, nor does a long one take much memory', () => {
  const key = callerKeyOf(createCall({ principal: { subject: 'ada' } }))
  expect(at(key)).not.toBe(key)
  expect(at('x'.repeat(100_000)).length).toBeLessThanOrEqual(100)
  expect(at(`[${':'.repeat(100_000)}`).length).toBeLessThanOrEqual(1000)
})

test('the error names the limit and when to try again', () => {
  expect(toWire(quotaError({ limit: 'streams', max: 100, retryAfterMs: 1000, advice: 'end one' }))).toEqual({
    code: errorCodes.internal,
    message: 'You have reached streams, which is 100 for each caller: end one, or try again in 1000 ms',
    data: { reason: 'quota', limit: 'streams', max: 100, retryAfterMs: 1000 },
  })
  expect(quotaError({ limit: 'max', max: 1, retryAfterMs: undefined }).message).toBe(
    'You have reached max, which is 1 for each caller',
  )
})

test.each([
  ['no principal', undefined, null],
  ['a subject alone', { subject: 'a' }, [null, 'a', null]],
  ['all of it, and nothing else', { issuer: 'i', subject: 'a', client: 'c', scopes: ['s'] }, ['i', 'a', 'c']],
])('%s', (_title, principal, identity) => {
  expect(principalIdentityOf(principal)).toEqual(identity)
})
