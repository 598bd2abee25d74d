import type { Exchange } from '@x/exchange'
import { expect, test, vi } from 'vitest'
import { readIfThere } from '../examples/errors.ts'
import { createClient } from '../src/index.ts'

test('the program of the README runs', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(log.mock.calls).toEqual([['greet: Greets a person'], [[{ type: 'text', text: 'Hello, Ada!' }]]])
  log.mockRestore()
})

test.each([
  ['nothing for a resource that does not exist', -32002, undefined],
  ['nothing either in the words of this revision', -32602, { uri: 'a:b' }],
])('the README reads %s', async (_title, code, data) => {
  const exchange: Exchange = async ({ id }) => {
    return { jsonrpc: '2.0', id, error: data ? { code, message: 'no', data } : { code, message: 'no' } }
  }
  expect(await readIfThere(createClient(exchange, { name: 'host', version: '1' }), 'a:b')).toBeUndefined()
})
