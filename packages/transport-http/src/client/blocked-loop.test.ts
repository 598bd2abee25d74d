import { createClient } from '@x/client'
import { expect, test } from 'vitest'
import { createJsonAnswer, scriptedServer } from '../testing/scripted-server.ts'
import { connectHttp } from './connect-node.ts'

test('an answer that has arrived counts although the process was stopped beyond the time limit [CAN-006]', async () => {
  const result = { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' }
  await using server = await scriptedServer((response, received) => {
    createJsonAnswer({ jsonrpc: '2.0', id: JSON.parse(received.body).id, result })(response, received)
    // From the second request on, the system has the answer, and this process, which is the client too, cannot read it.
    if (server.received.length > 1)
      response.once('finish', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400))
  })
  await using connection = connectHttp(server.url)
  const client = createClient(connection, { name: 'host', version: '1', timeoutMs: 200 })
  await client.listTools({ timeoutMs: 10_000 })
  expect(await client.listTools()).toEqual([])
})
