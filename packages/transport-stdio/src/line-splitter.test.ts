import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLineSplitter, idFromExcerpt, type SkippedLine } from './line-splitter.ts'

interface Heard {
  readonly lines: string[]
  readonly flaws: SkippedLine[]
}

function listen(maxBytes: number): Heard & ReturnType<typeof createLineSplitter> {
  const heard: Heard = { lines: [], flaws: [] }
  const splitter = createLineSplitter(maxBytes, {
    onLine: (text) => heard.lines.push(text),
    onSkipped: (skipped) => heard.flaws.push(skipped),
  })
  return { ...heard, ...splitter }
}

function receive(chunks: readonly Buffer[], maxBytes = 1000): Heard {
  const { push, end, ...heard } = listen(maxBytes)
  for (const chunk of chunks) push(chunk)
  end()
  return heard
}

/** Splits bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

const lineText = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.json())
  // Half a surrogate pair has no form in UTF-8.
  .map((text) => Buffer.from(text.replaceAll(/[\r\n]/g, ' ')).toString())
const cuts = fc.array(fc.nat(), { maxLength: 30 })

describe('lines', () => {
  test('are the same however the stream is cut, in every script and with either ending [STD-001 TRI-001]', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(lineText, fc.constantFrom('\n', '\r\n'))), cuts, (lines, places) => {
        const bytes = Buffer.from(lines.map(([text, ending]) => text + ending).join(''))
        const { lines: heard, flaws } = receive(cut(bytes, places), 100_000)
        expect(heard).toEqual(lines.map(([text]) => text).filter((text) => text !== ''))
        expect(flaws).toEqual([])
      }),
    )
  })

  test('are heard or refused by the same rule however any bytes are cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), cuts, fc.integer({ min: 0, max: 40 }), (data, places, bound) => {
        const bytes = Buffer.from(data)
        expect(receive(cut(bytes, places), bound)).toEqual(receive([bytes], bound))
      }),
    )
  })

  test('that the stream ends in count without a newline', () => {
    expect(receive([Buffer.from('one\ntwo')])).toEqual({ lines: ['one', 'two'], flaws: [] })
  })

  test('are refused when they are not UTF-8, and the next line is read [TRI-001]', () => {
    const chunk = Buffer.concat([Buffer.from('a\n'), Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]), Buffer.from('b\n')])
    const { lines, flaws } = receive([chunk])
    expect(lines).toEqual(['a', 'b'])
    expect(flaws).toMatchObject([{ kind: 'not_utf8' }])
  })

  test.each([
    ['as long as the bound', '12345678\n', ['12345678'], 0],
    ['as long as the bound with a carriage return', '12345678\r\n', ['12345678'], 0],
    ['a byte longer', '123456789\nnext\n', ['next'], 1],
    ['a byte longer with a carriage return', '123456789\r\nnext\n', ['next'], 1],
    ['a byte longer by a letter of two', '1234567é\nnext\n', ['next'], 1],
    ['much longer, and the last', '1234567890123456789', [], 1],
  ])('%s are validated by their bytes, split or whole', (_, text, heard, flaws) => {
    const bytes = Buffer.from(text)
    const singles = [...bytes].map((byte) => Buffer.from([byte]))
    for (const chunks of [[bytes], singles]) {
      const result = receive(chunks, 8)
      expect(result.lines).toEqual(heard)
      expect(result.flaws.map(({ kind }) => kind)).toEqual(Array(flaws).fill('too_long'))
    }
  })

  test('that are too long keep both ends for the refusal', () => {
    const text = `${'a'.repeat(300)}${'é'.repeat(1000)}${'z'.repeat(100)}`
    const { flaws } = receive(cut(Buffer.from(`${text}\n`), [7, 280, 900]), 50)
    expect(flaws).toEqual([{ kind: 'too_long', head: 'a'.repeat(256), tail: 'z'.repeat(64) }])
  })

  test('without an end take no more memory than their bound', () => {
    const bound = 1024 * 1024
    const { push, end, flaws } = listen(bound)
    const chunk = Buffer.alloc(bound, 'x')
    const before = process.memoryUsage().arrayBuffers
    for (let megabytes = 0; megabytes < 200; megabytes++) push(chunk)
    // What is dropped on the way may not be collected yet: the buffers that grew up to twice the bound.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * bound)
    end()
    expect(flaws).toMatchObject([{ kind: 'too_long' }])
  })

  test('that come byte by byte take time and memory in proportion: four million bytes would else take hours', () => {
    const { push, lines } = listen(16 * 1024 * 1024)
    const byte = Buffer.from('x')
    const before = process.memoryUsage().arrayBuffers
    for (let count = 0; count < 4_000_000; count++) push(byte)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000)
    push(Buffer.from('\n'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toHaveLength(4_000_000)
  })
})

const excerptOf = (text: string) => ({ kind: 'too_long', head: text.slice(0, 256), tail: text.slice(-64) }) as const
const plainId = fc.oneof(
  fc.maxSafeInteger(),
  fc.string({ maxLength: 40 }).map((text) => text.replaceAll(/[^ !#-[\]-~]/g, '')),
)
const params = fc.object({ withNullPrototype: false, key: fc.constantFrom('id', '"id', 'jsonrpc', 'x', '\\"id"') })

describe('the id of a message that was too long to read', () => {
  test('is found as the first or the last member', () => {
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
