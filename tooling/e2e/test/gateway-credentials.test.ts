import { inspect } from 'node:util'
import { createClient } from '@x/client'
import { connectHttp, type HttpConnection } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { createTokenExchangeSetup, type TokenExchangeSetup, hostSecretOf, secret } from './token-exchange-setup.ts'

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

async function openHost(
  { issuer, entry }: TokenExchangeSetup,
  id: string,
): Promise<{ token: string; connection: HttpConnection }> {
  const token = await issuer.issue({ id, secret: hostSecretOf(id), resource: entry.url, scope: 'use' })
  return { token, connection: connectHttp(entry.url, { headers: { authorization: `Bearer ${token}` } }) }
}

test('the tokens of two users are exchanged: each upstream receives only its own tokens, and no result or log contains a token [GWY-002 GWY-003 GWY-009]', async () => {
  await using world = await createTokenExchangeSetup()
  const users = await Promise.all(['ada', 'grace'].map((id) => openHost(world, id)))
  const received: string[] = []
  for (const round of [1, 2]) {
    const answers = await Promise.all(
      users.map(async ({ connection }) => {
        const client = createClient(connection, { name: `host-${round}`, version: '1.0.0' })
        const tools = await client.listTools()
        received.push(JSON.stringify(tools))
        const calls = ['modern__whoami', 'older__whoami'].map((name) => client.callTool(name))
        return (await Promise.all(calls)).map((result) => textOf(result))
      }),
    )
    received.push(JSON.stringify(answers))
    expect(answers).toEqual([
      ['ada at modern', 'ada at older'],
      ['grace at modern', 'grace at older'],
    ])
  }
  for (const { url, tokens } of [world.modern, world.older]) {
    const claims = Array.from(tokens, claimsOf)
    expect(claims.map(({ aud, sub, client_id: client }) => [aud, sub, client]).toSorted()).toEqual([
      [url, 'ada', 'gateway'],
      [url, 'grace', 'gateway'],
    ])
  }
  const everyToken = [world.entry, world.modern, world.older].flatMap(({ tokens }) => [...tokens])
  expect(everyToken).toEqual(expect.arrayContaining(users.map(({ token }) => token)))
  for (const text of [...received, ...world.logged])
    for (const each of [...everyToken, secret]) expect(text).not.toContain(each)
  await Promise.all(users.map(({ connection }) => connection.close()))
})

test('an exchange that the authorization server rejects is an error without the reason, which is logged', async () => {
  await using world = await createTokenExchangeSetup('canary-wrong-secret')
  const { token, connection } = await openHost(world, 'ada')
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  const error = await client.callTool('modern__whoami').catch((thrown: unknown) => thrown)
  const message = 'Upstream "modern" cannot be called: no credential of the caller could be obtained'
  expect(error).toMatchObject({ rpc: { code: -32603, message, data: { upstream: 'modern', reason: 'credential' } } })
  const log = world.logged.join('\n')
  expect(log).toContain('invalid_client')
  for (const each of [token, secret, 'canary-wrong-secret']) expect(`${log} ${inspect(error)}`).not.toContain(each)
  expect([world.modern.tokens.size, world.older.tokens.size]).toEqual([0, 0])
  await connection.close()
})
