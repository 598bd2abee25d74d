import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWireReader, isListen, readAnswer } from './wire-units.ts'

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const packet = (code: number, rest = ''): Buffer => Buffer.concat([int(8 + rest.length), int(code), Buffer.from(rest)])
const message = (letter: string, body: Uint8Array | string = ''): Buffer =>
  Buffer.concat([Buffer.from(letter), int(4 + body.length), Buffer.from(body)])

const startup = packet(196_608, 'user\0postgres\0\0')
const units = (...chunks: readonly Buffer[]) => {
  const read = createWireReader()
  return chunks
    .flatMap((chunk) => read(chunk))
    .map((unit) => ('bytes' in unit ? unit.bytes.toString('hex') : unit.kind))
}

test('the messages of one prepared query are one unit, and those of a plain one are another', () => {
  const prepared = Buffer.concat([message('P', 'SELECT $1'), message('B'), message('E'), message('S')])
  const plain = message('Q', 'SELECT 1\0')
  expect(units(packet(80_877_103), startup, prepared, plain, message('X'))).toEqual([
    'encryption',
    startup.toString('hex'),
    prepared.toString('hex'),
    plain.toString('hex'),
    'end',
  ])
})

test('what wants something else to be broken off is sent away', () => {
  expect(units(packet(80_877_102, '12345678'))).toEqual(['end'])
})

test('however the bytes arrive, the units are the same', () => {
  const letters = fc.constantFrom('P', 'B', 'D', 'E', 'C', 'S', 'Q')
  const messages = fc.array(fc.tuple(letters, fc.uint8Array({ maxLength: 40 })), { maxLength: 12 })
  const cuts = fc.array(fc.nat({ max: 800 }), { maxLength: 20 })
  fc.assert(
    fc.property(messages, cuts, (sent, at) => {
      const all = Buffer.concat([startup, ...sent.map(([letter, body]) => message(letter, body))])
      const edges = [0, ...at.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length]
      const chunks = edges.slice(1).map((edge, index) => all.subarray(edges[index], edge))
      const whole = units(all)
      expect(units(...chunks)).toEqual(whole)
      expect(all.toString('hex').startsWith(whole.join(''))).toBe(true)
    }),
  )
})

test.each([
  ['another protocol', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['version 2', packet(131_072)],
  ['a message that is shorter than its length', Buffer.concat([startup, Buffer.from('Q'), int(3)])],
  ['a message that is too long', Buffer.concat([startup, Buffer.from('Q'), int(2_000_000_000)])],
  ['a startup of no length', Buffer.concat([int(0), int(196_608)])],
])('%s is rejected', (_, bytes) => {
  expect(() => units(bytes)).toThrow(expect.objectContaining({ name: 'WireError' }))
})

describe('of an answer', () => {
  test('notifications of NOTIFY are separated, and other messages are not changed', () => {
    const [complete, news, ready] = [message('C', 'NOTIFY\0'), message('A', 'xyz'), message('Z', 'I')]
    const answer = readAnswer(Buffer.concat([complete, news, ready]))
    expect(answer.bytes).toEqual(Buffer.concat([complete, ready]))
    expect(answer.notifications).toEqual(news)
  })

  test.each([
    ['I', false],
    ['T', true],
    ['E', true],
  ])('the status %s means that a transaction is open: %s', (status, open) => {
    expect(readAnswer(message('Z', status)).inTransaction).toBe(open)
  })
})

test.each([
  [message('Q', 'LISTEN "tasks"\0'), true],
  [message('Q', ' listen tasks\0'), true],
  [message('Q', "SELECT 'LISTEN '\0"), false],
  [message('P', 'LISTEN x\0'), false],
])('whether %s is a LISTEN: %s', (bytes, expected) => {
  expect(isListen(bytes)).toBe(expected)
})
