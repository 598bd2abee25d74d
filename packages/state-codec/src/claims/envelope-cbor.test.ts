import type { JsonValue } from '@x/core'
import { expect, test } from 'vitest'
import { encodeCbor } from './encode-cbor.ts'
import { decodeEnvelope, encodeEnvelope } from './envelope-cbor.ts'

const bind = '00112233445566778899aabbccddeeff'
const times = { at: 1_800_000_000_000, until: 1_800_003_600_000, since: 1_799_999_999_000 }

test.each([
  ['bound, with an audience', { ...times, bind, aud: 'tickets', value: { a: [1] } }],
  ['bound', { ...times, bind, aud: undefined, value: null }],
  ['bound to nothing', { ...times, bind: undefined, aud: 'tickets', value: false }],
])('an envelope %s comes back', (_, envelope) => {
  expect(decodeEnvelope(encodeEnvelope(envelope, []), [])).toEqual(envelope)
})

test.each<[string, JsonValue]>([
  ['of a later version', [2, times.at, 1, 1, bind, 'value']],
  ['without a version', [times.at, 1, 1, bind, 'value']],
  ['without a value', [1, times.at, 1, 1, bind]],
  ['whose time is a text', [1, '1800000000000', 1, 1, bind, 'value']],
  ['whose lifetime is null', [1, times.at, null, 1, bind, 'value']],
  ['without an age', [1, times.at, 1]],
  ['whose binding is a number', [1, times.at, 1, 1, 7, 'value']],
  ['whose audience is an array', [1, times.at, 1, 1, bind, 'value', ['tickets']]],
  ['that is an object', { at: times.at, until: times.until, since: times.since, value: 1 }],
  ['that is null', null],
])('content %s is malformed', (_, content) => {
  expect(() => decodeEnvelope(encodeCbor(content, []), [])).toThrow(expect.objectContaining({ code: 'malformed' }))
})
