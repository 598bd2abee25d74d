import { startAuthServer } from '@tooling/auth-server'
import { serveCompanyGateway as serveExchange } from '@tooling/examples/gateway-exchange'
import { serveCompanyGateway as serveLogins } from '@tooling/examples/gateway-logins'
import { findFreePort } from '@tooling/real-servers/free-port'
import { connectRedis, startRedis } from '@tooling/real-servers/redis'
import { createClient } from '@x/client'
import { randomKey } from '@x/state-codec'
import { connectHttp } from '@x/transport-http/client'
import { expect, onTestFinished, test } from 'vitest'
import { textOf } from './asking.ts'
import {
  createHostClient,
  createUpstream,
  gatewayClient,
  hostSecretOf,
  openEndpoint,
  secret,
} from './token-exchange-setup.ts'
import { followPages } from './follow-pages.ts'

const clients = [createHostClient('ada'), gatewayClient]
const ada = { id: 'ada', secret: hostSecretOf('ada'), scope: 'use' }

test('the token-exchange gateway of the guide calls an upstream for its caller', async () => {
  const crm = await openEndpoint()
  onTestFinished(() => crm.close())
  // The example chooses the port of the gateway, so its resource has another port.
  const resource = 'http://127.0.0.1:9/mcp'
  const resources = [resource, crm.url].map((each) => ({ resource: each, scopes: ['use'] }))
  await using issuer = await startAuthServer({ clients, resources })
  crm.serve(createUpstream('crm'), issuer.issuer)
  const keys = [randomKey()]
  await using http = await serveExchange({ resource, issuer: issuer.issuer, crmUrl: crm.url, secret, keys })
  const token = await issuer.issue({ ...ada, resource })
  await using connection = connectHttp(http.url, { headers: { authorization: `Bearer ${token}` } })
  const client = createClient(connection, { name: 'host', version: '1.0.0' })
  expect(textOf(await client.callTool('crm__whoami'))).toBe('ada at crm')
})

test('the login gateway of the guide offers the login, and then the tools of the user', async () => {
  const crm = await openEndpoint()
  onTestFinished(() => crm.close())
  const port = await findFreePort()
  const origin = `http://127.0.0.1:${port}`
  const resources = [
    { resource: `${origin}/mcp`, scopes: ['mcp'] },
    { resource: crm.url, scopes: ['use'] },
  ]
  await using issuer = await startAuthServer({ clients, resources })
  crm.serve(createUpstream('crm'), issuer.issuer)
  const server = await startRedis('redis-server')
  onTestFinished(() => server.close())
  const redis = await connectRedis(server.path)
  onTestFinished(() => redis.destroy())
  const installation = { origin, port, issuer: issuer.issuer, crmUrl: crm.url, redis, keys: [randomKey()] }
  {
    await using http = await serveLogins(installation)
    const token = await issuer.issue({ ...ada, scope: 'mcp', resource: `${origin}/mcp` })
    await using connection = connectHttp(http.url, { headers: { authorization: `Bearer ${token}` } })
    const client = createClient(connection, {
      name: 'host',
      version: '1.0.0',
      openUrl: async ({ url }) => {
        expect(await followPages(url, origin, (page) => issuer.browse(page))).toMatchObject({ status: 200 })
        return { action: 'accept' }
      },
    })
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['crm__login'])
    await client.callTool('crm__login')
    expect(textOf(await client.callTool('crm__whoami'))).toBe('ada at crm')
  }
})
