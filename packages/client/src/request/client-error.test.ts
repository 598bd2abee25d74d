import type { Exchange } from '@x/exchange'
import { expect, test } from 'vitest'
import { type Client, createClient } from '../index.ts'

const failures: readonly (readonly [string, Exchange])[] = [
  ['a transport that fails', () => Promise.reject(new Error('no connection'))],
  [
    'a server that answers with an error',
    ({ id }) => respond({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } }),
  ],
  ['a result that is not valid', ({ id }) => respond({ jsonrpc: '2.0', id, result: { tools: 1, content: 1 } })],
  ['a server that does not answer', () => new Promise(() => {})],
]

const respond: (response: Awaited<ReturnType<Exchange>>) => ReturnType<Exchange> = async (response) => response

const calls: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
  ['callTool', (client) => client.callTool('greet', {})],
  ['getPrompt', (client) => client.getPrompt('greet')],
  ['readResource', (client) => client.readResource('greet:all')],
  ['listTools', (client) => client.listTools()],
  ['discover', (client) => client.discover()],
]

test.each(
  failures.flatMap(([failure, exchange]) => calls.map(([name, call]) => [failure, name, exchange, call] as const)),
)('the stack of the error after %s names the caller of %s', async (_failure, _name, exchange, call) => {
  const client = createClient(exchange, { name: 'host', version: '1', timeoutMs: 1 })
  const callFromHere = async (): Promise<void> => {
    await call(client)
  }
  const failure = callFromHere()
  // Timers that are due together add frames of Node to the stack.
  const busyUntil = performance.now() + 2
  setTimeout(() => {}, 1)
  setTimeout(() => {}, 1)
  while (performance.now() < busyUntil);
  await expect(failure).rejects.toMatchObject({
    name: 'ClientError',
    stack: expect.stringMatching(/^ClientError: .*\n(?:.*\n)*.*callFromHere.*client-error\.test/),
  })
})
