import { expect, test } from 'vitest'
import { createCall } from './call-context.ts'
import { serverOf } from './server.ts'

test('a server in front of another one announces its own revision, and not those of the other', async () => {
  const discovery = { resultType: 'complete', supportedVersions: ['2026-07-28', '2025-11-25'], capabilities: {} }
  const server = serverOf(async ({ id }) => ({ jsonrpc: '2.0', id, result: discovery }), {
    info: { name: 'proxy', version: '1.0.0' },
    localOnly: undefined,
  })
  const call = createCall({ signal: AbortSignal.timeout(10_000) })
  const send = (method: string) => server.exchange({ jsonrpc: '2.0', id: 1, method, params: {} }, call)
  expect(await send('server/discover')).toMatchObject({ result: { supportedVersions: ['2026-07-28'] } })
  expect(await send('tools/list')).toMatchObject({ result: discovery })
})
