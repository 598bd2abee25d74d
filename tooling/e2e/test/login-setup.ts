import { inspect } from 'node:util'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { connectRedis, type RealRedis, startRedis } from '@tooling/real-servers/redis'
import { randomKey } from '@x/state-codec'
import { createHostClient, createUpstream, type Endpoint, openEndpoint } from './token-exchange-setup.ts'
import { followPages, type LastPage } from './follow-pages.ts'
import { createLoginInstance, type LoginSettings } from './login-instance.ts'

/** The users, with their account names at the authorization server of the upstream. */
export const accounts = { ada: 'ada.crm', grace: 'grace.crm' }
export type User = keyof typeof accounts
const users = Object.keys(accounts)

/** Two instances of a gateway behind one URL, which receive its requests in turn. */
export interface LoginSetup extends AsyncDisposable {
  readonly url: string
  readonly company: AuthServer
  readonly crm: AuthServer
  readonly upstream: Endpoint
  readonly redis: RealRedis
  readonly logged: readonly string[]
  /** Opens a page in a new browser of the user and follows its redirects. Resolves to the last page. */
  visit(url: string, user: User): Promise<LastPage>
  /** Returns all keys and values of Redis. */
  readStore(): Promise<readonly string[]>
}

/** Starts two instances of a gateway at one URL, and an upstream with its own authorization server. */
export async function createLoginSetup(): Promise<LoginSetup> {
  const [entry, upstream] = [await openEndpoint(), await openEndpoint()]
  const { origin } = new URL(entry.url)
  const resourcesOf = (resource: string) => [{ resource, scopes: ['use'] }]
  const company = await startAuthServer({
    clients: users.map(createHostClient),
    accounts: users,
    resources: resourcesOf(entry.url),
  })
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
  entry.http.on('request', (request, response) => {
    turn += 1
    instances[turn % instances.length]?.handle(request, response)
  })
  return {
    url: entry.url,
    company,
    crm,
    upstream,
    redis,
    logged,
    visit: (address, user) =>
      followPages(address, origin, (url) =>
        url.origin === company.issuer ? company.browse(url, user) : crm.browse(url, accounts[user]),
      ),
    readStore: () => readStore(redis.path),
    [Symbol.asyncDispose]: async () => {
      for (const { close } of instances) await close()
      for (const endpoint of [entry, upstream]) endpoint.close()
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
