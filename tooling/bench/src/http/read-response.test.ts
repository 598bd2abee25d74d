import { describe, expect, test } from 'vitest'
import { messageIn, readResponse } from './read-response.ts'

const plain = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":"ä"}'.replace(
  '9',
  '10',
)
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n3\r\n"b"\r\n1\r\n}\r\n0\r\n\r\n'

describe.each([
  ['with a length', plain, '{"a":"ä"}'],
  ['in chunks', chunked, '{"a":"b"}'],
])('a response %s', (_name, text, body) => {
  const bytes = Buffer.from(text)

  test('is returned only when it is complete', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(readResponse(bytes.subarray(0, length))).toBeUndefined()
    }
    expect(readResponse(bytes)).toEqual({ status: 200, body, rest: Buffer.alloc(0) })
  })

  test('ends where the next response begins', () => {
    const both = Buffer.concat([bytes, Buffer.from('HTTP/1.1 400 ')])
    expect(readResponse(both)?.rest.toString()).toBe('HTTP/1.1 400 ')
  })
})

test('a response without a length is an error', () => {
  expect(() => readResponse(Buffer.from('HTTP/1.1 200 OK\r\n\r\n{}'))).toThrow('no length in the head')
})

test.each([
  ['{"a":1}', '{"a":1}'],
  ['event: message\ndata: {"a":1}\n\n', '{"a":1}\n\n'],
  ['data: {"a":1}\n\ndata: {"a":2}\n\n', '{"a":2}\n\n'],
  ['', '{}'],
])('the message in %j is %j', (body, message) => {
  expect(messageIn(body)).toBe(message)
})
