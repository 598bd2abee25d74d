import { clientAddressKey, createCall, withContext } from '@x/exchange'
import { errorCodes, metaKeys, protocolVersion } from '@x/schema'
import { createServer } from '@x/server'
import { memoryStore, storedState } from '@x/state-codec'
import { expect, test } from 'vitest'
import { sessions } from '../server.ts'
import type { SessionOptions } from './session-options.ts'

const sessionKey = 'io.modelcontextprotocol/session'

/** A server with sessions, and requests of callers that have no principal. */
function serving(options: SessionOptions = {}) {
  const extension = sessions(options)
  const server = createServer({ name: 'demo', version: '1', state: false, log: () => {}, extensions: [extension] })
  return async (method: string, address: string, session?: unknown) => {
    const _meta = {
      [metaKeys.protocolVersion]: protocolVersion,
      [metaKeys.clientCapabilities]: {},
      ...(session !== undefined && { [sessionKey]: session }),
    }
    // The texts of a request are JSON.
    const params = JSON.parse(JSON.stringify({ _meta }))
    const call = withContext(createCall(), clientAddressKey, address)
    const response = await server.exchange({ jsonrpc: '2.0', id: 1, method, params }, call)
    return 'result' in response ? { result: response.result } : { error: response.error }
  }
}

test('10,000 sessions that one address creates do not lock other callers out', async () => {
  const send = serving({ store: memoryStore() })
  let refused = 0
  for (let count = 0; count < 10_000; count++) {
    if ((await send('sessions/create', '192.0.2.66')).error !== undefined) refused++
  }
  expect(refused).toBe(9000)
  expect((await send('sessions/create', '192.0.2.66')).error).toMatchObject({
    code: errorCodes.internal,
    message: expect.stringMatching(/^You have reached states, which is 1000 for each caller: try again in \d+ ms$/),
    data: { reason: 'quota', limit: 'states', max: 1000, retryAfterMs: expect.any(Number) },
  })
  expect((await send('sessions/create', '192.0.2.1')).result).toHaveProperty('session')
})

test('a session that is deleted makes room, and only once', async () => {
  const send = serving({ store: memoryStore({ maxEntriesPerOwner: 2 }) })
  const first = (await send('sessions/create', '192.0.2.66')).result
  await send('sessions/create', '192.0.2.66')
  expect((await send('sessions/create', '192.0.2.66')).error).toBeDefined()
  await Promise.all([1, 2, 3].map(() => send('sessions/delete', '192.0.2.66', first?.['session'])))
  expect((await send('sessions/create', '192.0.2.66')).result).toBeDefined()
  expect((await send('sessions/create', '192.0.2.66')).error).toBeDefined()
})

test('states of sessions in a store count for their caller, until they are replaced', async () => {
  const store = memoryStore({ maxEntriesPerOwner: 3 })
  const keeping = sessions({
    state: {
      schema: { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: 0 }) } },
      initial: 0,
      codec: storedState({ store }),
    },
  })
  const server = createServer({ name: 'demo', version: '1', state: false, log: () => {}, extensions: [keeping] })
  const create = (address: string) =>
    server.exchange(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'sessions/create',
        params: { _meta: { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} } },
      },
      withContext(createCall(), clientAddressKey, address),
    )
  for (let count = 0; count < 3; count++) expect(await create('192.0.2.66')).toHaveProperty('result')
  expect(await create('192.0.2.66')).toMatchObject({ error: { data: { reason: 'quota', max: 3 } } })
  expect(await create('192.0.2.1')).toHaveProperty('result')
})

test('the ends that one caller leaves in memory leave room for those of others', async () => {
  const send = serving()
  const own = (await send('sessions/create', '192.0.2.1')).result?.['session']
  for (let count = 0; count < 1100; count++) {
    const { result } = await send('sessions/create', '192.0.2.66')
    await send('sessions/delete', '192.0.2.66', result?.['session'])
  }
  await send('sessions/delete', '192.0.2.1', own)
  expect((await send('server/discover', '192.0.2.1', own)).error).toMatchObject({ message: 'Session not found' })
})
