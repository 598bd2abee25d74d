import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64, encodeBase64, encodeBase64url } from './base64.ts'

const anyBytes = fc.uint8Array({ maxLength: 40 })

test('bytes are encoded as in RFC 4648 and decoded to the same bytes', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
      expect(encodeBase64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'))
      expect(decodeBase64(encodeBase64(bytes))).toEqual(new Uint8Array(bytes))
    }),
  )
})

test('a megabyte does not overflow the stack', () => {
  const bytes = new Uint8Array(1_000_000).fill(255)
  expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'))
})

test.each(['*', 'a', 'äöü=', 'abc=def'])('%j is not Base64', (text) => {
  expect(decodeBase64(text)).toBeUndefined()
})
