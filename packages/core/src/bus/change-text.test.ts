import { isJsonObject } from '../json.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeMessage, encodeChange, maxDataDepth } from './change-text.ts'

const nested = (depth: number): object => (depth === 0 ? {} : { deeper: nested(depth - 1) })

/** A change whose data was parsed from JSON, like that of a caller. */
const changeWith = (data: unknown) => {
  const value: unknown = JSON.parse(JSON.stringify({ data }))
  if (!isJsonObject(value) || !isJsonObject(value['data'])) throw new Error('data must be an object')
  return { topic: 'task', data: value['data'] }
}

describe('a change as a text', () => {
  test('any topic is encoded in ASCII and decoded to the same topic', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (topic) => {
        const text = encodeChange({ topic }, 65_536)
        expect(text).toMatch(/^[\x20-\x7e]*$/)
        expect(decodeMessage(text, 65_536)).toEqual({ topic })
      }),
    )
  })

  test('any data is decoded to equal data', () => {
    const data = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }))
    fc.assert(
      fc.property(data, (value) => {
        const change = changeWith(value)
        expect(decodeMessage(encodeChange(change, 1_000_000), 1_000_000)).toEqual(change)
      }),
    )
  })

  test('a topic whose text exceeds the limit by one character is encoded as a gap', () => {
    const topic = 'x'.repeat(100 - '{"topic":""}'.length)
    expect(encodeChange({ topic }, 100)).toHaveLength(100)
    expect(decodeMessage(encodeChange({ topic: `${topic}x` }, 100), 100)).toEqual({ gap: true })
  })

  test('a character outside ASCII counts with the length of its escape', () => {
    const topic = 'ü'.repeat(20)
    expect(decodeMessage(encodeChange({ topic }, 132), 132)).toEqual({ topic })
    expect(decodeMessage(encodeChange({ topic }, 131), 131)).toEqual({ gap: true })
  })

  test('a change with data whose topic alone is too long is encoded as a gap', () => {
    expect(encodeChange({ topic: 'x'.repeat(100), data: { a: 1 } }, 100)).toBe('{"gap":true}')
  })

  test('data that exceeds the limit is rejected with both lengths and a shortened topic', () => {
    const change = { topic: 't'.repeat(201), data: { text: 'x'.repeat(1_000) } }
    const message = `data of the change "${'t'.repeat(128)}…" makes it 1232 bytes, and this bus carries 1000`
    expect(() => encodeChange(change, 1_000)).toThrow(message)
  })

  test('data as deep as the limit is encoded, and data one level deeper is rejected', () => {
    const deepest = changeWith(nested(maxDataDepth - 1))
    expect(decodeMessage(encodeChange(deepest, 1_000), 1_000)).toEqual(deepest)
    expect(() => encodeChange(changeWith(nested(maxDataDepth)), 1_000)).toThrow(/nested deeper than 32/)
  })
})

describe('a text as a message', () => {
  test('unknown members are ignored, so that a later version can add members', () => {
    expect(decodeMessage('{"topic":"tools","from":"a later version"}', 100)).toEqual({ topic: 'tools' })
  })

  test('a text one character longer than the limit is rejected before it is parsed', () => {
    const text = `{"topic":"${'x'.repeat(88)}"}`
    expect(decodeMessage(text, 100)).toEqual({ topic: 'x'.repeat(88) })
    expect(() => decodeMessage(`${text} `, 100)).toThrow(/longer than 100 characters/)
  })

  test('any text decodes to a message or throws a BusError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"topic":${json},"data":${json}}`),
        ),
        (text) => {
          try {
            const message = decodeMessage(text, 1_000)
            expect('gap' in message || typeof message.topic === 'string').toBe(true)
          } catch (error) {
            expect(error).toMatchObject({ name: 'BusError', code: 'unreadable' })
          }
        },
      ),
    )
  })
})
