import fc from 'fast-check'
import { expect, test } from 'vitest'
import { expandUuid, shortenDigits, shortenUuid } from './short-id.ts'

test('a UUID and a digest take 22 characters, and come back', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      const digest = uuid.replaceAll('-', '')
      expect([shortenUuid(uuid), shortenDigits(digest)]).toEqual([
        expect.stringMatching(/^[\w-]{22}$/),
        shortenUuid(uuid),
      ])
      expect(shortenDigits(digest)).toBe(Buffer.from(digest, 'hex').toString('base64url'))
      expect(shortenDigits(digest.slice(0, 18))).toBe(Buffer.from(digest.slice(0, 18), 'hex').toString('base64url'))
      expect(expandUuid(shortenUuid(uuid))).toBe(uuid)
    }),
  )
})

test.each(['', '1', 'call-7', '0B0CA123-4D5E-4F60-9ABC-DEF012345678', 'A'.repeat(200)])('%j stays as it is', (text) => {
  expect([shortenUuid(text), expandUuid(text)]).toEqual([text, text])
})
