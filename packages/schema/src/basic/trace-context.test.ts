import { describe, expect, test } from 'vitest'
import { traceContextOf } from './trace-context.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`

test('the well-formed parts of a trace context are returned, and nothing else of the _meta [BAS-063]', () => {
  const context = { traceparent, tracestate: 'a=1,b@c=2', baggage: 'k=v;p=1' }
  expect(traceContextOf({ ...context, progressToken: 1 })).toEqual(context)
})

test.each([[undefined], [{}], [{ traceparent: 1, baggage: null }]])('of %j there is none', (meta) => {
  expect(traceContextOf(meta)).toEqual({})
})

describe('a traceparent [BAS-063]', () => {
  test.each([
    ['version 00', traceparent],
    ['a later version', traceparent.replace('00-', '01-')],
    ['a later version with more fields', `${traceparent.replace('00-', 'cc-')}-what-comes`],
  ])('of %s is taken', (_, value) => {
    expect(traceContextOf({ traceparent: value })).toEqual({ traceparent: value })
  })

  test.each([
    ['version ff', traceparent.replace('00-', 'ff-')],
    ['capital letters', traceparent.toUpperCase()],
    ['a trace id of zeros', traceparent.replace(traceId, '0'.repeat(32))],
    ['a parent id of zeros', traceparent.replace('00f067aa0ba902b7', '0'.repeat(16))],
    ['a short trace id', traceparent.replace(traceId, traceId.slice(1))],
    ['more fields in version 00', `${traceparent}-x`],
    ['a newline behind', `${traceparent}\n`],
    ['a header injected behind', `${traceparent.replace('00-', '01-')}-\r\nx: y`],
    ['too much behind', `${traceparent.replace('00-', '01-')}-${'x'.repeat(1000)}`],
  ])('with %s is left out', (_, value) => {
    expect(traceContextOf({ traceparent: value })).toEqual({})
  })

  test('that is left out takes its tracestate with it', () => {
    expect(traceContextOf({ traceparent: 'x', tracestate: 'a=1', baggage: 'k=v' })).toEqual({ baggage: 'k=v' })
  })
})

describe('a tracestate [BAS-063]', () => {
  test.each([
    ['one member', 'rojo=00f067aa0ba902b7'],
    ['spaces around members', 'a=1 ,\tb=2'],
    ['empty members', 'a=1,,b=2,'],
    ['a tenant', '0tenant@system=x'],
    ['spaces within a value', 'a=1 2'],
    ['32 members', Array.from({ length: 32 }, (_, index) => `k${index}=v`).join(',')],
  ])('of %s is taken', (_, tracestate) => {
    expect(traceContextOf({ traceparent, tracestate })).toEqual({ traceparent, tracestate })
  })

  test.each([
    ['nothing', ''],
    ['a member without a value', 'a'],
    ['an empty value', 'a='],
    ['a capital letter in a key', 'A=1'],
    ['an equals sign in a value', 'a=b=c'],
    ['a control character', 'a=\u0001'],
    ['the same key twice', 'a=1,a=2'],
    ['33 members', Array.from({ length: 33 }, (_, index) => `k${index}=v`).join(',')],
    ['a value of 257 characters', `a=${'x'.repeat(257)}`],
    ['megabytes', 'a=1,'.repeat(1_000_000)],
  ])('with %s is left out', (_, tracestate) => {
    expect(traceContextOf({ traceparent, tracestate })).toEqual({ traceparent })
  })
})

describe('a baggage [BAS-063]', () => {
  test.each([
    ['one member', 'userId=alice'],
    ['an empty value', 'k='],
    ['properties', 'k=v;p=1;q , l = w'],
    ['percent encoding', 'k=%20%E4'],
    ['an equals sign in a value', 'k=a=b'],
  ])('of %s is taken', (_, baggage) => {
    expect(traceContextOf({ baggage })).toEqual({ baggage })
  })

  test.each([
    ['nothing', ''],
    ['a member without a value', 'k'],
    ['a key that is no token', 'k(=v'],
    ['a quote in a value', 'k="v"'],
    ['a letter that is not ASCII', 'k=é'],
    ['a space within a value', 'k=a b'],
    ['an empty member', 'k=v,,l=w'],
    ['more than 8192 characters', `k=${'x'.repeat(8191)}`],
  ])('with %s is left out', (_, baggage) => {
    expect(traceContextOf({ baggage })).toEqual({})
  })
})
