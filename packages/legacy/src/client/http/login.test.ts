import { createClient } from '@x/client'
import { manualClock } from '@tooling/vitest/manual-clock'
import { expect, test } from 'vitest'
import { connectAny } from '../../client.ts'

const handshakeTimeoutMs = 30_000

test('a handshake has no limit while a user logs in, and the limit again afterwards', async () => {
  const runtime = manualClock()
  let endLogin = (): void => {}
  const auth = {
    headers: () => ({}),
    onResponse: () => undefined,
    onLoginChange: (_: URL, listener: (pendingLogin: Error | undefined) => void) => {
      endLogin = () => listener(undefined)
      listener(new Error('A login is open'))
      return () => {}
    },
  }
  const fetch = (): Promise<Response> => new Promise(() => {})
  const connection = connectAny('https://mcp.test/mcp', { http: { auth, fetch }, handshakeTimeoutMs, runtime })
  const client = createClient(connection.exchange, { name: 'host', version: '1.0.0', maxResendMs: 0 })
  const failure = client.listTools().catch(String)
  await expect.poll(() => runtime.waiting).toBe(2)
  runtime.advance(handshakeTimeoutMs)
  await expect.poll(() => runtime.waiting).toBe(2)
  endLogin()
  runtime.advance(handshakeTimeoutMs)
  expect(await failure).toContain('no answer to server/discover within 30000 ms')
  await connection.close()
})
