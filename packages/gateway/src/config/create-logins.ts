import { guardedFetch, loginPages } from '@x/auth/node'
import { type UserLogin, userLogin, type UserLoginOptions } from '@x/auth/login'
import type { Protection } from '@x/auth/server'
import { type KeyInput, memoryStore, type StateStore } from '@x/state-codec'
import { redisStore } from '@x/state-codec/redis'
import type { ServerExtension } from '@x/exchange'
import type { ServeHttpOptions } from '@x/transport-http/node'
import { readAccount, type UpstreamSource } from './create-upstream.ts'
import type { GatewayFile } from './file-schema.ts'
import { RedisConnection } from './redis-connection.ts'

export interface FileLogins {
  readonly logins: UserLogin
  /** Serves the pages. */
  readonly onRequest: NonNullable<ServeHttpOptions['onRequest']>
  /** Closes the store with the gateway. */
  readonly extensions: readonly ServerExtension[]
}

/** Creates the logins of a file. Returns undefined for a file without any, and if the file has a problem. */
export async function createLogins(
  file: GatewayFile,
  keys: readonly KeyInput[],
  { source, protection }: { readonly source: UpstreamSource; readonly protection: Protection | undefined },
): Promise<FileLogins | undefined> {
  const { name, login } = file
  if (login === undefined) return undefined
  const { secrets } = source
  const { url, metadataUrl, client: account, store } = login
  const registration = account && (await readAccount('login.client', account, secrets))
  const redisUrl = store === 'memory' ? undefined : await secrets.read('login.store.redis', store.redis)
  const redis = redisUrl === undefined ? undefined : await openRedis(redisUrl, secrets)
  if (protection === undefined || secrets.problems.length > 0) return undefined
  const client = { name, metadataUrl, registrations: registration && [registration] }
  const logins = openLogins(
    { url, protection, client, store: createStore(redis), keys, fetch: createLoginFetch(file) },
    secrets,
  )
  if (logins === undefined) return undefined
  return {
    logins,
    onRequest: loginPages(logins),
    extensions: redis === undefined ? [] : [closeWithServer(redis)],
  }
}

function openLogins(options: UserLoginOptions, { problems }: UpstreamSource['secrets']): UserLogin | undefined {
  try {
    return userLogin(options)
  } catch (error) {
    problems.push(`login: ${error instanceof Error ? error.message : 'it cannot be used'}`)
    return undefined
  }
}

async function openRedis(url: string, { problems }: UpstreamSource['secrets']): Promise<RedisConnection | undefined> {
  try {
    const { createClient } = await import('@redis/client')
    return new RedisConnection(createClient({ url }))
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
    // The error of an invalid address may repeat it, with its password.
    const problem = isMissing ? 'needs the package @redis/client: install it' : 'must be the address of a Redis server'
    problems.push(`login.store.redis: ${problem}`)
    return undefined
  }
}

/**
 * Returns the `fetch` of the logins. A host that the file names may have a private address. An upstream may name any
 * other host, which must have a public one, so that no upstream makes the gateway call servers inside your network.
 */
export function createLoginFetch({
  listen,
  login,
  upstreams,
}: Pick<GatewayFile, 'listen' | 'login' | 'upstreams'>): NonNullable<UserLoginOptions['fetch']> {
  const addresses = [...(listen.protect?.issuers ?? []), login?.client?.issuer]
  for (const upstream of Object.values(upstreams))
    if ('url' in upstream) addresses.push(upstream.url, upstream.auth?.userLogin?.client?.issuer)
  const named = addresses.filter((address) => address !== undefined).map((address) => new URL(address))
  const guarded = guardedFetch({ allowedHosts: named.map(({ hostname }) => hostname) })
  // http is valid on this machine only, for an origin that the file names.
  const local = new Set(named.filter(({ protocol }) => protocol === 'http:').map(({ origin }) => origin))
  return (address, request) =>
    local.has(new URL(address).origin) ? fetch(address, request) : guarded(address, request)
}

function createStore(redis: RedisConnection | undefined): StateStore {
  return redis === undefined ? memoryStore() : redisStore(redis)
}

function closeWithServer(redis: RedisConnection): ServerExtension {
  return {
    extends: 'server',
    name: 'loginStore',
    start: () => ({ ready: () => redis.ping(), close: () => redis.close() }),
  }
}
