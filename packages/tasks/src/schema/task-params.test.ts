import { isMcpError, type JsonObject } from '@x/schema'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  parseInputResponseParams,
  parseRelatedTaskParams,
  parseTaskRequestParams,
  parseUpdateTaskRequestParams,
} from './task-params.ts'

const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}
const related = { ..._meta, 'io.modelcontextprotocol/related-task': { taskId: 'b' } }

test.each<[string, (params: JsonObject | undefined) => unknown, JsonObject, object]>([
  ['of tasks/get', parseTaskRequestParams, { taskId: 'a', _meta, more: 1 }, { taskId: 'a' }],
  [
    'of tasks/update',
    parseUpdateTaskRequestParams,
    { taskId: 'a', inputResponses: { x: 1 }, _meta },
    { taskId: 'a', inputResponses: { x: 1 } },
  ],
  ['of tasks/result', parseRelatedTaskParams, { _meta: related }, { taskId: 'b' }],
  ['of tasks/result with the id beside it', parseRelatedTaskParams, { taskId: 'a', _meta: related }, { taskId: 'a' }],
  [
    'of tasks/input_response',
    parseInputResponseParams,
    { inputResponses: {}, _meta: related },
    { taskId: 'b', inputResponses: {} },
  ],
])('the params %s are parsed', (_title, read, params, expected) => {
  expect(read(params)).toEqual(expect.objectContaining(expected))
})

test('any other value is rejected with an error for the peer', () => {
  const readers = [
    parseTaskRequestParams,
    parseUpdateTaskRequestParams,
    parseRelatedTaskParams,
    parseInputResponseParams,
  ]
  const params = fc.oneof(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.record(
      { taskId: fc.jsonValue(), inputResponses: fc.jsonValue(), _meta: fc.constant(_meta) },
      { requiredKeys: [] },
    ),
  )
  fc.assert(
    fc.property(params, fc.constantFrom(...readers), (given, read) => {
      try {
        const { taskId } = read(JSON.parse(JSON.stringify(given)))
        expect(typeof taskId).toBe('string')
      } catch (error) {
        expect(isMcpError(error)).toBe(true)
      }
    }),
  )
})
