import { importPeerDependency, isMissingModuleError } from '@x/core'
import { loginPages } from '@x/auth/node'
import { type UserLogin, userLogin, type UserLoginOptions } from '@x/auth/login'
import type { Protection } from '@x/auth/server'
import { type KeyInput, memoryStore, type StateStore } from '@x/state-codec'
import { redisStore, type RedisClient } from '@x/state-codec/redis'
import type { ServerExtension } from '@x/exchange'
import type { ServeHttpOptions } from '@x/transport-http/node'
import { readAccount, type UpstreamSource } from './create-upstream.ts'
import { createFetch } from './create-fetch.ts'
import type { GatewayFile } from './file-schema.ts'
import type { createClient } from '@redis/client'

/** Connects to Redis with the first command, so that a file can be read while Redis is unreachable. */
class RedisConnection implements RedisClient {
  readonly #client: ReturnType<typeof createClient>
  #opening: Promise<unknown> | undefined

  constructor(client: ReturnType<typeof createClient>) {
    this.#client = client
    // After an error the client connects again by itself, and a command that fails has its own error.
    client.on('error', () => undefined)
  }

  async sendCommand(...command: Parameters<RedisClient['sendCommand']>): Promise<unknown> {
    this.#opening ??= this.#client.connect().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    await this.#opening
    return this.#client.sendCommand(...command)
  }

  async ping(): Promise<boolean> {
    return (await this.sendCommand(['PING'])) === 'PONG'
  }

  async close(): Promise<void> {
    if (this.#client.isOpen) this.#client.destroy()
    this.#opening = undefined
  }
}

export interface FileLogins {
  readonly logins: UserLogin
  /** Serves the pages. */
  readonly onRequest: NonNullable<ServeHttpOptions['onRequest']>
  /** Closes the store with the gateway. */
  readonly extensions: readonly ServerExtension[]
}

/** Undefined for a file without logins, and if the file has a problem. */
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
  const redis = redisUrl === undefined ? undefined : await importRedis(redisUrl, secrets)
  if (protection === undefined || secrets.problems.length > 0) return undefined
  const client = { name, metadataUrl, registrations: registration && [registration] }
  const logins = openLogins(
    { url, protection, client, store: createStore(redis), keys, fetch: createFetch(addressesOf(file)) },
    secrets,
  )
  if (logins === undefined) return undefined
  return {
    logins,
    onRequest: loginPages(logins),
    extensions: redis === undefined ? [] : [closeWithServer(redis)],
  }
}

/** Every address for logins that the file names. They share one `fetch`, because they share one account. */
function addressesOf({ listen, login, upstreams }: GatewayFile): readonly (string | undefined)[] {
  const issuers = [...(listen.protect?.issuers ?? []), login?.client?.issuer]
  const ofUpstreams = Object.values(upstreams).flatMap((upstream) =>
    'url' in upstream && upstream.auth?.userLogin !== undefined
      ? [upstream.url, upstream.auth.userLogin.client?.issuer]
      : [],
  )
  return [...issuers, ...ofUpstreams]
}

function openLogins(options: UserLoginOptions, { problems }: UpstreamSource['secrets']): UserLogin | undefined {
  try {
    return userLogin(options)
  } catch (error) {
    problems.push(`login: ${error instanceof Error ? error.message : 'it cannot be used'}`)
    return undefined
  }
}

async function importRedis(url: string, { problems }: UpstreamSource['secrets']): Promise<RedisConnection | undefined> {
  try {
    const { createClient } = await importPeerDependency('@redis/client@6', () => import('@redis/client'), 'A URL')
    return new RedisConnection(createClient({ url }))
  } catch (error) {
    // An invalid address may be repeated in its error, with its password.
    const problem = isMissingModuleError(error) ? error.message : 'must be the address of a Redis server'
    problems.push(`login.store.redis: ${problem}`)
    return undefined
  }
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
