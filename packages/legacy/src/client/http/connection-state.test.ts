import { createClient } from '@x/client'
import { expect, test } from 'vitest'
import { createScriptedServer } from '../../testing/scripted-server.ts'
import { connectAny } from '../connect-node.ts'

const url = 'https://server.test/mcp'
const host = { name: 'host', version: '1.2.3' }

test('a path at which no server answers is not open, and the probe that an older server rejects is no failure', async () => {
  const fetch = async (): Promise<Response> => new Response('not here', { status: 404 })
  await using lost = connectAny(url, { http: { fetch } })
  await expect(createClient(lost, host).listTools()).rejects.toThrow('it answered neither server/discover nor')
  expect([lost.state.status, lost.state.reason?.message]).toEqual(['connecting', expect.stringContaining('404')])
  const connection = connectAny(url, { http: { fetch: createScriptedServer().fetch } })
  const statuses: string[] = []
  connection.onStateChange(({ status }) => statuses.push(status))
  await createClient(connection, host).callTool('greet')
  expect(statuses).toEqual(['open'])
})

test('an error of a proxy says when to try again, and has no credential that the proxy repeats', async () => {
  const fetch = async (): Promise<Response> =>
    Response.json({ error: 'Bearer secret-token is over its limit' }, { status: 429, headers: { 'retry-after': '7' } })
  const http = { fetch, retry: false, headers: { authorization: 'Bearer secret-token' } }
  await using connection = connectAny(url, { http })
  const error = await createClient(connection, { ...host, maxResendMs: 0 })
    .listTools()
    .catch((reason: unknown) => reason)
  expect(Object(error).retryAfterMs ?? Object(error).cause?.retryAfterMs).toBe(7000)
  expect(String(error)).not.toContain('secret-token')
})
