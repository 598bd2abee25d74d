import { describe, expect, test } from 'vitest'
import { randomKey, sealedState } from '../node.ts'
import { parseKeys } from './keys.ts'

const secret = Buffer.from('f1c9d3a25e7b804416ad93c0be57682f0d9a81e43b7c52f6981eadc40573b26f', 'hex')

test.each([
  ['bytes', new Uint8Array(secret)],
  ['a Buffer', secret],
  ['hex', secret.toString('hex')],
  ['hex in capitals, with a line end', `${secret.toString('hex').toUpperCase()}\n`],
  ['Base64', secret.toString('base64')],
  ['Base64url', secret.toString('base64url')],
  ['a key with an id', { id: '2026-11', key: secret.toString('base64') }],
])('%s is a key', (_, input) => {
  expect(Buffer.from(parseKeys([input])[0]?.secret ?? [])).toEqual(secret)
})

test.each([
  [
    'an unset variable',
    [process.env['VARIABLE_THAT_IS_NOT_SET']],
    'keys[0] is undefined: is the environment variable set?',
  ],
  ['an empty variable', [secret, ''], 'keys[1] is empty: is the environment variable set?'],
  ['an unset variable with an id', [{ id: 'a', key: undefined }], 'keys[0].key is undefined'],
  ['no keys', [], 'keys is empty'],
  ['a passphrase', ['correct horse battery staple and some more words'], 'a passphrase is not a key'],
  ['a passphrase without spaces', ['correcthorsebatterystaplecorrecthorsebatterystaple12'], 'looks like a passphrase'],
  [
    'a passphrase in camel case',
    ['CorrectHorseBatteryStapleIncorrectDonkeyPowerBanks'.slice(0, 48)],
    'looks like a passphrase',
  ],
  [
    'a passphrase in Base64',
    [Buffer.from('correct horse battery staple and some more').toString('base64')],
    'is text, not random',
  ],
  [
    'the bytes of a passphrase',
    [Buffer.from('correct horse battery staple and some more')],
    'is text, not random bytes',
  ],
  ['the bytes of hex', [Buffer.from(secret.toString('hex'))], 'decode it if it is hex'],
  ['too few bytes', [secret.subarray(0, 31)], 'has 31 bytes, a key has 32 or more'],
  ['too little hex', [secret.toString('hex').slice(2)], 'has 31 bytes after decoding'],
  ['half as much hex', [secret.toString('hex').slice(16)], 'has 24 bytes after decoding'],
  ['too little Base64', [secret.subarray(0, 24).toString('base64')], 'has 24 bytes'],
  ['zeros', [new Uint8Array(32)], 'repeats itself'],
  ['one byte repeated', [new Uint8Array(64).fill(7)], 'repeats itself'],
  ['a short piece repeated', ['deadbeef'.repeat(8)], 'repeats itself'],
  ['counting', [Uint8Array.from({ length: 32 }, (_, at) => at)], 'repeats itself'],
  ['the same key twice', [secret, secret.toString('hex')], 'keys[1] is the same as keys[0]'],
  [
    'the same id twice',
    [
      { id: 'a', key: secret },
      { id: 'a', key: randomKey() },
    ],
    'has the id "a" of a key before it',
  ],
  ['an id with a space', [{ id: 'a b', key: secret }], 'keys[0].id must be 1 to 64 letters'],
  ['a number', [42], 'keys[0] is not a key'],
  ['too many keys', Array.from({ length: 33 }, randomKey), 'the limit is 32'],
])('%s is rejected with a message that says what to do', (_, inputs, message) => {
  expect(() => parseKeys(inputs as string[])).toThrow(message)
})

test('the message of an invalid key says how to make one, and does not show it', () => {
  const passphrase = 'correct horse battery staple and some more words'
  expect(() => sealedState({ keys: [passphrase] })).toThrow(/randomBytes\(32\).*openssl rand/)
  expect(() => sealedState({ keys: [passphrase] })).not.toThrow(/horse/)
})

describe('random keys', () => {
  test('are always accepted, as hex, Base64 and bytes', () => {
    for (let at = 0; at < 2000; at++) {
      const key = randomKey()
      expect(() => parseKeys([key])).not.toThrow()
      expect(() => parseKeys([Buffer.from(key, 'hex')])).not.toThrow()
    }
  })
})

test('a key is copied, so that its owner may overwrite it', async () => {
  const bytes = Buffer.from(secret)
  const codec = sealedState({ keys: [bytes] })
  bytes.fill(0)
  const token = await codec.seal(1, { purpose: 'test' })
  expect(await sealedState({ keys: [secret] }).open(token, { purpose: 'test' })).toBe(1)
})
