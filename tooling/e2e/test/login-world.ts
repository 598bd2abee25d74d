import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { connectRedis, type RealRedis, startRedis } from '@tooling/real-servers/redis'
import { randomKey } from '@x/state-codec'
import { createUpstream, type Endpoint, openEndpoint } from './exchange-world.ts'
import { createLoginInstance, type LoginSettings } from './login-instance.ts'

/** The users, with their names at the authorization server of the upstream. */
export const accounts = { ada: 'ada.crm', grace: 'grace.crm', mallory: 'mallory.crm' }
export type User = keyof typeof accounts
const users = Object.keys(accounts)

/** Two instances of a gateway behind one address, which serve its requests in turns. */
export interface LoginWorld extends AsyncDisposable {
  readonly url: string
  readonly company: AuthServer
  readonly crm: AuthServer
  readonly upstream: Endpoint
  readonly redis: RealRedis
  readonly logged: readonly string[]
  /** The page of an upstream, as the person `user` sees it in a browser of their own. */
  visit(url: string, user: User): Promise<{ readonly status: number; readonly text: string }>
  /** Returns everything that is in Redis. */
  readStore(): Promise<readonly string[]>
}

const hosts = users.map((id) => ({
  client_id: id,
  client_secret: `canary-secret-of-${id}`,
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
}))

/** Two instances of a gateway at one address, and an upstream with an authorization server of its own. */
export async function createLoginWorld(): Promise<LoginWorld> {
  const http = createHttpServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const upstream = await openEndpoint()
  const resourcesOf = (resource: string) => [{ resource, scopes: ['use'] }]
  const company = await startAuthServer({ clients: hosts, accounts: users, resources: resourcesOf(`${origin}/mcp`) })
  const crm = await startAuthServer({ accounts: Object.values(accounts), resources: resourcesOf(upstream.url) })
  upstream.serve(createUpstream('crm'), crm.issuer)
  const redis = await startRedis('redis-server')
  const logged: string[] = []
  const settings: LoginSettings = {
    origin,
    issuer: company.issuer,
    upstreamUrl: upstream.url,
    redisPath: redis.path,
    keys: [randomKey()],
    log: (record) => void logged.push(inspect(record, { depth: 20, showHidden: true, maxStringLength: null })),
  }
  const instances = [await createLoginInstance(settings), await createLoginInstance(settings)]
  let turn = 0
  http.on('request', (request, response) => {
    turn += 1
    instances[turn % instances.length]?.handle(request, response)
  })
  return {
    url: `${origin}/mcp`,
    company,
    crm,
    upstream,
    redis,
    logged,
    visit: (address, user) => visit({ origin, company, crm }, address, user),
    readStore: () => readStore(redis.path),
    [Symbol.asyncDispose]: async () => {
      for (const { close } of instances) await close()
      for (const each of [http, upstream.http]) {
        each.closeAllConnections()
        each.close()
      }
      await Promise.all([company.close(), crm.close(), redis.close()])
    },
  }
}

async function readStore(path: string): Promise<readonly string[]> {
  const client = await connectRedis(path)
  const found: string[] = []
  for (const key of await client.keys('*')) {
    const isText = (await client.type(key)) === 'string'
    found.push(key, isText ? ((await client.get(key)) ?? '') : (await client.zRange(key, 0, -1)).join(' '))
  }
  client.destroy()
  return found
}

type Servers = Pick<LoginWorld, 'company' | 'crm'> & { readonly origin: string }

/** Follows the pages as a browser does, with its cookies for the gateway, until one of them does not redirect. */
async function visit(
  { origin, company, crm }: Servers,
  from: string,
  user: User,
): Promise<{ readonly status: number; readonly text: string }> {
  const cookies = new Map<string, string>()
  let url = new URL(from)
  for (let step = 0; step < 10; step += 1) {
    if (url.origin === company.issuer) url = await company.browse(url, user)
    else if (url.origin === crm.issuer) url = await crm.browse(url, accounts[user])
    if (url.origin !== origin) throw new Error(`The login leads to ${url.href}`)
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const page = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const text of page.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? []
      cookies.set(name, value)
    }
    const location = page.headers.get('location')
    if (location === null) return { status: page.status, text: await page.text() }
    url = new URL(location)
  }
  throw new Error('The pages redirect endlessly')
}
