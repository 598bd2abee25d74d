import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { errorCodes } from '../basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import { anyText } from '../testing/any-text.ts'
import {
  encodeHeaderValue,
  checkHeaderParams,
  type HeaderParam,
  encodeHeaderArguments,
  parseHeaderParams,
} from './header-params.ts'

const marked = (name: unknown, type: unknown = 'string'): JsonObject =>
  JSON.parse(JSON.stringify({ type, 'x-mcp-header': name }))
const object = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...rest })

function paramsOf(schema: JsonObject): readonly HeaderParam[] {
  const read = parseHeaderParams(schema)
  if ('reason' in read) throw new Error(read.reason)
  return read.params
}

describe('reading the annotations of a tool', () => {
  test('finds each with its header name, path and type [SHT-036 SHT-042 SHT-044 TOL-023 TOL-024]', () => {
    const schema = object({
      region: marked('Region'),
      dryRun: marked('Dry-Run', 'boolean'),
      page: object({ size: marked('page_size', 'integer'), at: object({ 'x-mcp-header': marked('At') }) }),
      properties: marked('Properties'),
      plain: { type: 'string' },
    })
    expect(parseHeaderParams(schema)).toEqual({
      params: [
        { name: 'Region', path: ['region'], type: 'string' },
        { name: 'Dry-Run', path: ['dryRun'], type: 'boolean' },
        { name: 'Properties', path: ['properties'], type: 'string' },
        { name: 'page_size', path: ['page', 'size'], type: 'integer' },
        { name: 'At', path: ['page', 'at', 'x-mcp-header'], type: 'string' },
      ],
    })
  })

  test.each([
    [{}],
    [{ type: 'object' }],
    [object({ a: { type: 'string', default: { 'x-mcp-header': 'Not an annotation' } } })],
  ])('finds none in %j', (schema) => {
    expect(parseHeaderParams(schema)).toEqual({ params: [] })
  })

  test.each([
    ['empty [SHT-038 TOL-019]', ''],
    ['a space [SHT-039 TOL-020]', 'My Header'],
    ['a colon [SHT-039 TOL-020]', 'Region:'],
    ['a slash [SHT-039 TOL-020]', 'a/b'],
    ['a letter that is not ASCII [SHT-039 TOL-020]', 'Région'],
    ['a newline [SHT-040 TOL-021]', 'Region\r\nX-Evil: 1'],
    ['a newline behind [SHT-040 TOL-021]', 'Region\n'],
    ['NUL [SHT-040 TOL-021]', 'Region\u0000'],
    ['too long', 'x'.repeat(129)],
  ])('refuses a name that is or has %s', (_, name) => {
    expect(parseHeaderParams(object({ region: marked(name) }))).toEqual({
      reason: expect.stringContaining('x-mcp-header at /properties/region is'),
    })
  })

  test.each([[null], [1], [true], [['Region']], [{ name: 'Region' }]])('refuses %j for a name', (name) => {
    expect(parseHeaderParams(object({ region: marked(name) }))).toEqual({
      reason: expect.stringContaining('must be a string'),
    })
  })

  test.each(['number', 'object', 'array', 'null', ['string', 'null'], ['integer'], undefined])(
    'refuses a parameter of type %j [SHT-042 TOL-023]',
    (type) => {
      expect(parseHeaderParams(object({ region: { ...marked('Region'), type } }))).toEqual({
        reason: expect.stringContaining('not string, integer or boolean'),
      })
    },
  )

  test('refuses two names that differ only in case [SHT-041 TOL-022]', () => {
    const schema = object({ a: marked('Region'), b: object({ c: marked('REGION', 'integer') }) })
    expect(parseHeaderParams(schema)).toEqual({ reason: 'x-mcp-header "REGION" is used twice' })
  })

  const inner = object({ a: marked('A') })
  test.each<[string, JsonObject]>([
    ['the root', { ...object({}), 'x-mcp-header': 'A' }],
    ['items', object({ list: { type: 'array', items: marked('A') } })],
    ['properties within items', object({ list: { type: 'array', items: inner } })],
    ['prefixItems', object({ list: { prefixItems: [marked('A')] } })],
    ['contains', object({ list: { contains: marked('A') } })],
    ['oneOf', object({}, { oneOf: [inner] })],
    ['anyOf', object({ a: { anyOf: [marked('A')] } })],
    ['allOf', object({}, { allOf: [inner] })],
    ['not', object({}, { not: inner })],
    ['if', object({}, { if: inner })],
    ['then', JSON.parse(JSON.stringify(object({}, { else: inner })).replace('else', 'then'))],
    ['else', object({}, { else: inner })],
    ['additionalProperties', object({}, { additionalProperties: marked('A') })],
    ['patternProperties', object({}, { patternProperties: { '^x': marked('A') } })],
    ['dependentSchemas', object({}, { dependentSchemas: { b: inner } })],
    ['$defs, and so behind a $ref', object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: marked('A') } })],
    ['definitions', object({}, { definitions: { a: inner } })],
    ['an unknown keyword', object({}, { 'x-more': inner })],
  ])('refuses an annotation under %s [SHT-044 SHT-045 TOL-024]', (_, schema) => {
    expect(parseHeaderParams(schema)).toEqual({ reason: expect.stringContaining('not on a way of properties alone') })
  })

  test('stops at a schema that is too deep or too large', () => {
    let deep: JsonObject = marked('A')
    for (let depth = 0; depth < 100_000; depth++) deep = { properties: { a: deep } }
    const wide = object(Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`p${index}`, {}])))
    expect(parseHeaderParams(deep)).toEqual({ reason: 'it is more than 64 subschemas deep' })
    expect(parseHeaderParams(wide)).toEqual({ reason: 'it has more than 10000 subschemas' })
  })
})

const params = paramsOf(
  object({
    region: marked('Region'),
    limit: marked('Limit', 'integer'),
    dryRun: marked('Dry-Run', 'boolean'),
    page: object({ at: marked('Page-At') }),
  }),
)

describe('the headers of a client', () => {
  test.each<[string, JsonObject | undefined, Record<string, string>]>([
    ['strings as they are [SHT-037 SHT-059]', { region: 'us-west1' }, { Region: 'us-west1' }],
    ['strings encoded where needed [SHT-050 SHT-052]', { region: ' ü ' }, { Region: encodeHeaderValue(' ü ') }],
    ['integers in decimal [SHT-051]', { limit: -7 }, { Limit: '-7' }],
    ['large integers without an exponent [SHT-051]', { limit: 2 ** 53 - 1 }, { Limit: '9007199254740991' }],
    [
      'zero, false and the empty string, which are values',
      { limit: 0, dryRun: false, region: '' },
      {
        Limit: '0',
        'Dry-Run': 'false',
        Region: '',
      },
    ],
    ['booleans as words [SHT-051]', { dryRun: true }, { 'Dry-Run': 'true' }],
    ['the value at the exact path [SHT-046]', { page: { at: 'x' }, at: 'y', 'page.at': 'z' }, { 'Page-At': 'x' }],
    ['nothing for null [SHT-065]', { region: null, page: null }, {}],
    ['nothing for what is absent [SHT-066]', { other: 1 }, {}],
    ['nothing without arguments [SHT-066]', undefined, {}],
    ['nothing for what no header can repeat', { region: { a: 1 }, limit: [1], page: 'x' }, {}],
  ])('is %s', (_, args, headers) => {
    expect(Object.fromEntries(encodeHeaderArguments(params, args))).toEqual(headers)
  })

  test('is not what an object inherits [SHT-046]', () => {
    const inherited = paramsOf(object({ constructor: object({ name: marked('Name') }), toString: marked('To-String') }))
    expect(encodeHeaderArguments(inherited, {}).size).toBe(0)
    expect(encodeHeaderArguments(inherited, JSON.parse('{"__proto__":{"toString":"x"}}')).size).toBe(0)
  })

  test.each([2 ** 53, -(2 ** 53), 1e300])(
    'is never the integer %d, which JavaScript rounds [SHT-043 TOL-023]',
    (limit) => {
      expect(() => encodeHeaderArguments(params, { limit })).toThrow(
        expect.objectContaining({
          code: errorCodes.invalidParams,
          message: expect.stringContaining('limit must lie within'),
        }),
      )
    },
  )
})

describe('the headers that a server accepts', () => {
  const headers = (entries: Record<string, string>): Map<string, string> => new Map(Object.entries(entries))

  test.each<[string, JsonObject | undefined, Record<string, string>]>([
    ['the same text [SHT-063]', { region: 'us-west1' }, { Region: 'us-west1' }],
    ['the same text in Base64 [SHT-056]', { region: 'ü' }, { Region: '=?base64?w7w=?=' }],
    ['plain text that was encoded nevertheless [SHT-056]', { region: 'us' }, { Region: '=?base64?dXM=?=' }],
    ['the same integer', { limit: 42 }, { Limit: '42' }],
    ['the same integer with a fraction of zero [SHT-071]', { limit: 42 }, { Limit: '42.0' }],
    ['minus zero [SHT-071]', { limit: 0 }, { Limit: '-0' }],
    ['the same boolean', { dryRun: false }, { 'Dry-Run': 'false' }],
    ['nothing for null [SHT-067]', { region: null }, {}],
    ['nothing for what is absent [SHT-067]', undefined, {}],
    ['nothing for what its schema will refuse', { region: ['x'] }, {}],
    ['headers that are not its own', { region: 'x' }, { Region: 'x', Other: 'y' }],
  ])('is %s', (_, args, sent) => {
    expect(() => checkHeaderParams(params, args, headers(sent))).not.toThrow()
  })

  test.each<[string, JsonObject | undefined, Record<string, string>, string]>([
    ['another text [SHT-070]', { region: 'a' }, { Region: 'b' }, 'Mcp-Param-Region is "b", the arguments say "a"'],
    ['another case of a value', { region: 'A' }, { Region: 'a' }, 'is "a", the arguments say "A"'],
    ['another text in Base64 [SHT-056 SHT-070]', { region: 'a' }, { Region: '=?base64?Yg==?=' }, 'is "b"'],
    ['no header [SHT-068]', { region: 'a' }, {}, 'Mcp-Param-Region is missing, the arguments say "a"'],
    ['a header for null', { region: null }, { Region: 'null' }, 'is "null", but the arguments have no such value'],
    ['a header for nothing', {}, { Region: '' }, 'is "", but the arguments have no such value'],
    ['a header for an object', { region: {} }, { Region: '[object Object]' }, 'the arguments have no such value'],
    ['missing padding [SHT-062]', { region: 'Hello' }, { Region: '=?base64?SGVsbG8?=' }, 'not canonical Base64'],
    ['a character that a header may not have [SHT-062]', { region: 'ü' }, { Region: 'ü' }, 'not a header value'],
    ['another integer', { limit: 42 }, { Limit: '43' }, 'is "43", the arguments say "42"'],
    ['a fraction', { limit: 42 }, { Limit: '42.5' }, 'is "42.5"'],
    ['a fraction beyond what a double holds', { limit: 42 }, { Limit: '42.00000000000000000001' }, 'is "42.0000'],
    ['an exponent', { limit: 42 }, { Limit: '4.2e1' }, 'is "4.2e1"'],
    ['hexadecimal', { limit: 42 }, { Limit: '0x2a' }, 'is "0x2a"'],
    ['a leading zero', { limit: 42 }, { Limit: '042' }, 'is "042"'],
    ['an empty header for zero', { limit: 0 }, { Limit: '' }, 'is ""'],
    [
      'an integer that JavaScript rounds [SHT-043]',
      { limit: 2 ** 53 },
      { Limit: '9007199254740993' },
      'limit must lie',
    ],
    ['a boolean in capitals', { dryRun: true }, { 'Dry-Run': 'True' }, 'is "True"'],
    ['a number for a boolean', { dryRun: true }, { 'Dry-Run': '1' }, 'is "1"'],
    ['the value at another path', { at: 'x' }, { 'Page-At': 'x' }, 'Mcp-Param-Page-At is "x", but'],
  ])('is not %s, which is a headerMismatch [SHT-064 SHT-073]', (_, args, sent, message) => {
    expect(() => checkHeaderParams(params, args, headers(sent))).toThrow(
      expect.objectContaining({ code: errorCodes.headerMismatch, message: expect.stringContaining(message) }),
    )
  })

  test('is every call whose header params a client has set, for any arguments', () => {
    const value = fc.oneof(anyText, fc.maxSafeInteger(), fc.double(), fc.boolean(), fc.constant(null))
    const args = fc.record(
      { region: value, limit: value, dryRun: value, page: fc.record({ at: value }, { requiredKeys: [] }) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(args, (sent) => {
        fc.pre(!('limit' in sent) || typeof sent.limit !== 'number' || Math.abs(sent.limit) < 2 ** 53)
        const received: JsonObject = JSON.parse(JSON.stringify(sent))
        expect(() => checkHeaderParams(params, received, encodeHeaderArguments(params, received))).not.toThrow()
      }),
    )
  })

  test('does not repeat a long value whole', () => {
    const region = 'x'.repeat(100_000)
    expect(() => checkHeaderParams(params, { region }, headers({ Region: 'y' }))).toThrow(/^.{1,300}$/)
  })
})
