import {
  findSchemaProblem,
  checkCreateMessageResult,
  checkInputRequest,
  checkInputRequests,
  checkListRootsResult,
  checkHeaderParams,
  checkResult,
  decodeHeaderValue,
  isJsonObject,
  isMcpError,
  isMetaKey,
  type JsonValue,
  type Method,
  methods,
  encodeHeaderArguments,
  parseHeaderParams,
  parseMessage,
  parseRequestOrNotification,
  requestMetaOf,
  traceContextOf,
} from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { form } from '@x/server'
import { isStateError, randomKey, sealedState, signedState, type StateCodec } from '@x/state-codec'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hostileObject, hostileText, hostileValue } from './hostile-values.ts'

/** The limit of the length of an error about a value of a peer, in characters. */
const maxErrorLength = 2000

afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))

describe('A text from a peer is parsed, or rejected with a short protocol error', () => {
  test.each([
    ['any message', parseMessage],
    ['a request or a notification', parseRequestOrNotification],
  ])('as %s', (_title, parse) => {
    fc.assert(fc.property(hostileText, (text) => expectParsedOrRejected(() => parse(text), isMcpError)))
  })

  test('as a header value', () => {
    const value = fc.oneof(
      hostileText,
      hostileText.map((text) => `=?base64?${Buffer.from(text).toString('base64')}?=`),
    )
    fc.assert(fc.property(value, (text) => expectParsedOrRejected(() => decodeHeaderValue(text), isMcpError)))
  })

  test.each([
    ['sealed', sealedState({ keys: [randomKey()] })],
    ['signed', signedState({ keys: [randomKey()] })],
  ])('as a %s state, which cannot be forged without the key', async (_title, codec) => {
    const real = await codec.seal({ a: 1 }, { purpose: 'test' })
    const nearly = fc
      .tuple(fc.nat(real.length - 1), fc.string({ unit: 'binary', maxLength: 5 }))
      .map(([at, text]) => real.slice(0, at) + text + real.slice(at + 1))
    await fc.assert(fc.asyncProperty(fc.oneof(hostileText, nearly), (text) => expectUnopened(codec, text, real)))
  })
})

describe('A value from a peer is validated, or rejected with a short protocol error', () => {
  const names = Object.keys(methods) as Method[]

  test.each(names)('as the params of %s', (method) => {
    const params = hostileObject(
      'name',
      'uri',
      'arguments',
      'cursor',
      'ref',
      'argument',
      'notifications',
      'inputResponses',
      'requestState',
    )
    fc.assert(fc.property(params, (value) => expectParsedOrRejected(() => methods[method].params(value), isMcpError)))
  })

  test.each(names)('as a result of %s', (method) => {
    const result = hostileObject(
      'resultType',
      'content',
      'tools',
      'prompts',
      'resources',
      'contents',
      'messages',
      'inputRequests',
    )
    fc.assert(fc.property(result, (value) => expectShort(checkResult(method, value))))
  })

  const checks: readonly (readonly [string, (value: JsonValue) => unknown])[] = [
    ['a question', checkInputRequest],
    ['questions', checkInputRequests],
    ['a sampled message', checkCreateMessageResult],
    ['roots', checkListRootsResult],
    ['metadata of a request', (value) => requestMetaOf(isJsonObject(value) ? value : undefined)],
    ['a trace context', (value) => isJsonObject(value) && void traceContextOf(value)],
    ['a key of metadata', (value) => isMetaKey(typeof value === 'string' ? value : JSON.stringify(value))],
  ]
  test.each(checks)('as %s', (_title, check) => {
    const value = fc.oneof(
      hostileValue,
      hostileObject('method', 'params', 'role', 'content', 'roots', 'traceparent', 'tracestate', 'baggage'),
    )
    fc.assert(fc.property(value, (given) => expectParsedOrRejected(() => check(given), isMcpError)))
  })

  test('as a schema, and as a value to validate against it', () => {
    const schema = hostileObject(
      'type',
      'properties',
      'items',
      'anyOf',
      'enum',
      'required',
      '$ref',
      '$defs',
      'const',
      'x-mcp-header',
    )
    const property = fc.property(schema, hostileValue, (of, value) => {
      if (findSchemaProblem(of) !== undefined) return
      const problems = parseHeaderParams(of)
      if ('params' in problems && isJsonObject(value)) {
        encodeHeaderArguments(problems.params, value)
        expectParsedOrRejected(() => checkHeaderParams(problems.params, value, new Map()), isMcpError)
      }
      let validate: ReturnType<typeof compileJsonSchema>
      try {
        validate = compileJsonSchema(of)
      } catch (error) {
        // An invalid schema is rejected as a whole.
        expect(error).toBeInstanceOf(Error)
        return
      }
      // A problem may quote the schema.
      const longest = maxErrorLength + 2 * JSON.stringify(of).length
      for (const { message } of validate(value).slice(0, 100)) expect(message.length).toBeLessThan(longest)
    })
    fc.assert(property)
  })

  test('as the content of a form', async () => {
    const asked = form(z.object({ name: z.string(), age: z.int(), kind: z.enum(['a', 'b']) }))
    const content = fc.oneof(hostileValue, hostileObject('name', 'age', 'kind'))
    const property = fc.asyncProperty(content, async (value) => {
      const checked = await asked.check(value)
      const issues = 'value' in checked ? [] : (checked.issues ?? [])
      expect(issues.length).toBeLessThanOrEqual(20)
    })
    await fc.assert(property)
  })
})

function expectParsedOrRejected(parse: () => unknown, isExpected: (error: unknown) => boolean): void {
  try {
    parse()
  } catch (error) {
    if (!isExpected(error)) throw error
    expectShort(error instanceof Error ? error.message : error)
  }
}

function expectShort(problem: unknown): void {
  expect((JSON.stringify(problem) ?? '').length).toBeLessThan(maxErrorLength)
}

async function expectUnopened(codec: StateCodec, text: string, real: string): Promise<void> {
  const error: unknown = await codec.open(text, { purpose: 'test' }).catch((thrown: unknown) => thrown)
  if (text === real) expect(error).toEqual({ a: 1 })
  else expect(isStateError(error)).toBe(true)
}
