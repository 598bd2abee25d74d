import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryOf } from '../testing/arbitrary.ts'
import { mutationsOf } from '../testing/mutate.ts'
import { paramsValidators } from '../zod.ts'
import { errorCodes, isMcpError } from '../basic/mcp-error.ts'
import { isJsonObject, type JsonObject } from '@x/core'
import { metaKeys } from '../basic/meta-keys.ts'
import { type Method, findMethodRow, methods } from './methods.ts'

const definitions: { readonly [M in Method]: string } = {
  'server/discover': 'RequestParams',
  'tools/list': 'PaginatedRequestParams',
  'tools/call': 'CallToolRequestParams',
  'prompts/list': 'PaginatedRequestParams',
  'prompts/get': 'GetPromptRequestParams',
  'resources/list': 'PaginatedRequestParams',
  'resources/templates/list': 'PaginatedRequestParams',
  'resources/read': 'ReadResourceRequestParams',
  'completion/complete': 'CompleteRequestParams',
  'subscriptions/listen': 'SubscriptionsListenRequestParams',
}

const _meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }

function refusalOf(method: Method, params: JsonObject | undefined): { code: number; message: string } | undefined {
  try {
    const checked = findMethodRow(method)?.params(params)
    return checked === params ? undefined : { code: 0, message: 'other params were returned' }
  } catch (error) {
    if (isMcpError(error)) return { code: error.code, message: error.message }
    throw error
  }
}

function expectAgreement(method: Method, params: JsonObject): void {
  const { success } = paramsValidators[method].safeParse(params)
  const refusal = refusalOf(method, params)
  if (success === (refusal === undefined)) return
  expect.fail(`zod ${success ? 'takes' : 'refuses'} ${JSON.stringify(params)}, by hand: ${refusal?.message ?? 'taken'}`)
}

describe('the checks by hand accept exactly the values that the validators accept', () => {
  const names = Object.keys(methods) as Method[]

  test.each(names)('%s, for params as published and with one thing wrong', (method) => {
    fc.assert(
      fc.property(arbitraryOf(definitions[method]), (valid) => {
        for (const params of [valid, ...mutationsOf(valid)]) {
          if (isJsonObject(params)) expectAgreement(method, params)
        }
      }),
      { numRuns: 10 },
    )
  })

  test.each(['CreateMessageResult', 'ListRootsResult', 'ElicitResult'])(
    'a %s as an answer, and answers with one thing wrong',
    (definition) => {
      fc.assert(
        fc.property(arbitraryOf(definition), (valid) => {
          for (const answer of [valid, ...mutationsOf(valid)]) {
            expectAgreement('tools/call', { _meta, name: 'x', inputResponses: { answer } })
          }
        }),
        { numRuns: 15 },
      )
    },
  )
})

describe('a refusal is invalidParams and names the path, what belongs there and what stood there', () => {
  const icons = [{ src: 'https://example.com/a.png' }, { src: 1 }]
  const image = { type: 'image', data: '', mimeType: 3 }
  test.each<[Method, JsonObject | undefined, string]>([
    ['tools/call', undefined, 'params must be an object, got nothing'],
    ['tools/call', { name: 'x' }, 'params._meta must be an object, got nothing'],
    ['tools/call', { _meta, name: 3 }, 'params.name must be a string, got a number'],
    ['tools/call', { _meta }, 'params.name must be a string, got nothing'],
    ['tools/call', { _meta, name: 'x', arguments: [] }, 'params.arguments must be an object, got an array'],
    ['tools/call', { _meta, name: 'x', requestState: null }, 'params.requestState must be a string, got null'],
    ['tools/call', { _meta, name: 'x', inputResponses: 'x' }, 'params.inputResponses must be an object, got a string'],
    [
      'tools/call',
      { _meta, name: 'x', inputResponses: { a: { action: 'ok' } } },
      'params.inputResponses.a.action must be one of "accept", "cancel", "decline", got a string',
    ],
    [
      'tools/call',
      { _meta, name: 'x', inputResponses: { 'a b': { action: 'accept', content: { age: {} } } } },
      'params.inputResponses["a b"].content.age must be a string, a number, a boolean or strings, got an object',
    ],
    [
      'tools/call',
      { _meta, name: 'x', inputResponses: { a: { role: 'user', model: 'm', content: [image] } } },
      'params.inputResponses.a.content[0].mimeType must be a string, got a number',
    ],
    [
      'tools/call',
      { _meta, name: 'x', inputResponses: { a: { roots: [{}] } } },
      'params.inputResponses.a.roots[0].uri must be a string, got nothing',
    ],
    ['prompts/get', { _meta, name: 'x', arguments: { a: 1 } }, 'params.arguments.a must be a string, got a number'],
    ['resources/read', { _meta, uri: true }, 'params.uri must be a string, got a boolean'],
    [
      'completion/complete',
      { _meta, ref: { type: 'ref/tool' } },
      'params.ref.type must be one of "ref/prompt", "ref/resource", got a string',
    ],
    ['subscriptions/listen', { _meta }, 'params.notifications must be an object, got nothing'],
    [
      'tools/list',
      { _meta: { ..._meta, [metaKeys.clientInfo]: { name: 'x', version: '1', icons } } },
      'params._meta["io.modelcontextprotocol/clientInfo"].icons[1].src must be a string, got a number',
    ],
  ])('%s %j', (method, params, message) => {
    expect(refusalOf(method, params)).toEqual({ code: errorCodes.invalidParams, message })
  })

  test('without repeating the value, and with no more of a key than a reader needs', () => {
    const key = 'k'.repeat(100_000)
    const message = refusalOf('prompts/get', { _meta, name: 'x', arguments: { [key]: { secret: 'xyz' } } })?.message
    expect(message).not.toContain('xyz')
    expect(message?.length).toBeLessThan(300)
  })
})

test('inherited members are not params', () => {
  const params: JsonObject = JSON.parse('{"__proto__":{"name":"x","_meta":{}}}')
  expect(refusalOf('tools/call', params)?.message).toBe('params._meta must be an object, got nothing')
})
