import { describe, expect, test } from 'vitest'
import { errorCodes } from '../basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import { metaKeys } from '../basic/meta-keys.ts'
import { requestMetaOf } from './methods.ts'

const meta = { [metaKeys.protocolVersion]: '2026-07-28', [metaKeys.clientCapabilities]: {} }

describe('the _meta of a request', () => {
  test.each<[string, JsonObject]>([
    ['version and capabilities alone, without clientInfo [BAS-054]', meta],
    ['an unknown version', { ...meta, [metaKeys.protocolVersion]: '1999-01-01' }],
    [
      'all that the protocol knows',
      {
        ...meta,
        [metaKeys.clientCapabilities]: {
          elicitation: { form: {}, url: {} },
          sampling: { tools: {}, context: {} },
          roots: {},
          experimental: { 'x/y': { on: true } },
          extensions: {},
        },
        [metaKeys.clientInfo]: { name: 'c', version: '1', title: 'C', icons: [{ src: 'data:,', theme: 'dark' }] },
        [metaKeys.logLevel]: 'debug',
        progressToken: 0,
      },
    ],
    [
      'keys and capabilities of others',
      { ...meta, 'com.example/x': null, [metaKeys.clientCapabilities]: { other: 1 } },
    ],
  ])('is returned as it came: %s', (_, _meta) => {
    expect(requestMetaOf({ _meta })).toBe(_meta)
  })

  const missing = (key: string): JsonObject => Object.fromEntries(Object.entries(meta).filter(([name]) => name !== key))
  test.each<[string, JsonObject | undefined, string]>([
    ['no params [BAS-052]', undefined, '._meta must be an object, got nothing'],
    ['no _meta [BAS-052]', {}, '._meta must be an object, got nothing'],
    ['a _meta that is null', { _meta: null }, '._meta must be an object, got null'],
    ['no protocolVersion [BAS-052]', { _meta: missing(metaKeys.protocolVersion) }, 'must be a string, got nothing'],
    [
      'no clientCapabilities [BAS-052]',
      { _meta: missing(metaKeys.clientCapabilities) },
      'must be an object, got nothing',
    ],
    ['a version that is no string', { _meta: { ...meta, [metaKeys.protocolVersion]: 1 } }, 'must be a string'],
    [
      'capabilities that are no object',
      { _meta: { ...meta, [metaKeys.clientCapabilities]: { elicitation: { form: true } } } },
      '._meta["io.modelcontextprotocol/clientCapabilities"].elicitation.form must be an object, got a boolean',
    ],
    ['a client without a version', { _meta: { ...meta, [metaKeys.clientInfo]: { name: 'x' } } }, '.version must be'],
    ['a log level that does not exist', { _meta: { ...meta, [metaKeys.logLevel]: 'trace' } }, 'must be one of "debug"'],
    [
      'a fraction for a progress token',
      { _meta: { ...meta, progressToken: 1.5 } },
      '.progressToken must be a string or',
    ],
  ])('is refused with invalidParams that names the path: %s', (_, params, message) => {
    expect(() => requestMetaOf(params)).toThrow(
      expect.objectContaining({ code: errorCodes.invalidParams, message: expect.stringContaining(message) }),
    )
  })
})
