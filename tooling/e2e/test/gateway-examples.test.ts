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
import { createUpstream, type Endpoint, openEndpoint, secret } from './exchange-world.ts'

const clients = [
  {
    client_id: 'ada',
    client_secret: 'ada-secret',
    redirect_uris: [],
    response_types: [],
    grant_types: ['client_credentials'],
  },
  {
    client_id: 'gateway',
    client_secret: secret,
    redirect_uris: [],
    response_types: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange'],
  },
]
const ada = { id: 'ada', secret: 'ada-secret', scope: 'use' }

function close({ http }: Endpoint): void {
  http.closeAllConnections()
  http.close()
}

test('the gateway of the guide that exchanges tokens calls an upstream for its caller', async () => {
  const crm = await openEndpoint()
  onTestFinished(() => close(crm))
  // The port of the gateway is not in the example, so its resource has another one.
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
}, 60_000)

test('the gateway of the guide whose users log in offers the login, and then the tools of the user', async () => {
  const crm = await openEndpoint()
  onTestFinished(() => close(crm))
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
        await followLogin(url, origin, (page) => issuer.browse(page))
        return { action: 'accept' }
      },
    })
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['crm__login'])
    await client.callTool('crm__login')
    expect(textOf(await client.callTool('crm__whoami'))).toBe('ada at crm')
  }
}, 60_000)

/** Follows the pages of a login as a browser does. */
async function followLogin(from: string, origin: string, browse: (url: URL) => Promise<URL>): Promise<void> {
  const cookies: string[] = []
  let url = new URL(from)
  for (let step = 0; step < 10; step += 1) {
    if (url.origin !== origin) url = await browse(url)
    const page = await fetch(url, { redirect: 'manual', headers: { cookie: cookies.join('; ') } })
    cookies.push(...page.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? ''))
    const location = page.headers.get('location')
    if (location === null) return expect([page.status, await page.text()]).toEqual([200, expect.anything()])
    url = new URL(location)
  }
}
