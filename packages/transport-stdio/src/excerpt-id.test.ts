import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { idFromExcerpt } from './excerpt-id.ts'

const excerptOf = (text: string) => ({ kind: 'too_long', head: text.slice(0, 256), tail: text.slice(-64) }) as const
const plainId = fc.oneof(
  fc.maxSafeInteger(),
  fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^ !#-[\]-~]/g, '')),
)
const params = fc.object({ withNullPrototype: false, key: fc.constantFrom('id', '"id', 'jsonrpc', 'x', '\\"id"') })

describe('the id of a message that was too long to read', () => {
  test('is found where it stands first or last', () => {
    fc.assert(
      fc.property(plainId, params, (id, given) => {
        const first = JSON.stringify({ jsonrpc: '2.0', id, method: 'x', params: given })
        const last = JSON.stringify({ method: 'x', params: given, jsonrpc: '2.0', id })
        expect([idFromExcerpt(excerptOf(first)), idFromExcerpt(excerptOf(last))]).toEqual([id, id])
      }),
    )
  })

  test('is not taken from within the message', () => {
    fc.assert(
      fc.property(params, (given) => {
        const text = JSON.stringify({ jsonrpc: '2.0', method: 'x', params: given, '"id': 7 })
        expect(idFromExcerpt(excerptOf(text))).toBeUndefined()
        expect(idFromExcerpt(excerptOf(JSON.stringify({ method: 'x', params: given })))).toBeUndefined()
      }),
    )
  })

  test.each([
    ['an escape', '{"id":"a\\u0062",'],
    ['a number past what JSON carries exactly', '{"id":9007199254740993,'],
    ['a fraction', '{"id":1.5,'],
    ['garbage', 'x'.repeat(256)],
  ])('is not guessed from %s', (_, head) => {
    expect(idFromExcerpt({ kind: 'too_long', head, tail: '' })).toBeUndefined()
  })
})
