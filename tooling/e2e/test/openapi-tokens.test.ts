import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startAuthServer } from '@tooling/auth-server'
import { findFreePort } from '@tooling/real-servers/free-port'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { keys } from './asking.ts'
import { bundleExample } from './bundle-example.ts'
import { startOrdersApi } from './orders-api.ts'
import { createExchangeClient, createHostClient, hostSecretOf } from './token-exchange-setup.ts'

const openapiFolder = fileURLToPath(new URL('../../../packages/openapi/', import.meta.url))

test('the program of the guide gives an API the token of each user, over two instances, and renews one that is refused', async () => {
  /** The audience and the subject of each token that the API received. */
  const received: unknown[] = []
  const refused = new Set<unknown>()
  await using api = await startOrdersApi(({ headers: { authorization = '' } }) => {
    const { aud, sub } = JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString())
    received.push([aud, sub])
    // The API has forgotten the first token of each user.
    return refused.size === refused.add(sub).size
  })
  const ports = [await findFreePort(), await findFreePort()]
  const url = `http://127.0.0.1:${ports[0]}/mcp`
  await using issuer = await startAuthServer({
    clients: [...['ada', 'grace'].map(createHostClient), createExchangeClient('orders-mcp', 'canary-secret')],
    resources: [url, api.url].map((resource) => ({ resource, scopes: ['orders'] })),
  })
  await using program = await bundleExample('examples/tokens-per-user.ts', openapiFolder)
  const instances = ports.map((port) => {
    const parts = { MCP_URL: url, API_URL: api.url, ISSUER: issuer.issuer, CLIENT_SECRET: 'canary-secret' }
    const env = { ...process.env, ...parts, STATE_KEYS: keys.first, PORT: String(port), VITEST: undefined }
    return spawn(process.execPath, [program.path], {
      cwd: `${openapiFolder}test`,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  })
  await Promise.all(instances.map(({ stdout }) => once(stdout, 'data')))

  let turn = 0
  for (const user of ['ada', 'grace']) {
    const token = await issuer.issue({ id: user, secret: hostSecretOf(user), resource: url, scope: 'orders' })
    await using connection = connectHttp(url, {
      headers: { authorization: `Bearer ${token}` },
      fetch: (address, init) => fetch(String(address).replace(`:${ports[0]}`, `:${ports[turn++ % 2]}`), init),
    })
    const client = createClient(connection, {
      name: 'host',
      version: '1.0.0',
      elicit: () => ({ action: 'accept', content: { confirm: true } }),
    })
    expect((await client.callTool('deleteOrder', { id: 7 })).structuredContent).toEqual({ deleted: '7' })
  }
  expect(received).toEqual(['ada', 'ada', 'grace', 'grace'].map((user) => [api.url, user]))
  expect(api.requests).toEqual(['DELETE /orders/7', 'DELETE /orders/7'])
  for (const each of instances) each.kill('SIGTERM')
  expect(await Promise.all(instances.map((each) => once(each, 'exit')))).toEqual([
    [0, null],
    [0, null],
  ])
})
