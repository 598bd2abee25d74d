import { importPeerDependency, isMissingModuleError } from '@x/core'
import { loginPages } from '@x/auth/node'
import { type UserLogin, userLogin, type UserLoginOptions } from '@x/auth/login'
import type { Protection } from '@x/auth/server'
import { type KeyInput, memoryStore } from '@x/state-codec'
import { type RedisStore, redisStore } from '@x/state-codec/redis'
import type { ServerExtension } from '@x/exchange'
import type { ServeHttpOptions } from '@x/transport-http/node'
import { readAccount, type UpstreamSource } from './create-upstream.ts'
import { createFetch } from './create-fetch.ts'
import type { GatewayFile } from './file-schema.ts'

/**
 * Undefined for a file without logins, and if the file has a problem. `onRequest` serves the pages, and `extensions`
 * close the store with the gateway.
 */
export async function createLogins(
  file: GatewayFile,
  keys: readonly KeyInput[],
  { source, protection }: { readonly source: UpstreamSource; readonly protection: Protection | undefined },
): Promise<
  | {
      readonly logins: UserLogin
      readonly onRequest: NonNullable<ServeHttpOptions['onRequest']>
      readonly extensions: readonly ServerExtension[]
    }
  | undefined
> {
  const { name, login } = file
  if (login === undefined) return undefined
  const { secrets, log } = source
  const { url, metadataUrl, client: account, store } = login
  const registration = account && (await readAccount('login.client', account, secrets))
  const redisUrl = store === 'memory' ? undefined : await secrets.read('login.store.redis', store.redis)
  const redis = await openRedisStore(redisUrl, secrets)
  if (protection === undefined || secrets.problems.length > 0) return undefined
  const client = { name, metadataUrl, registrations: registration && [registration] }
  const logins = openLogins(
    { url, protection, client, store: redis ?? memoryStore(), keys, fetch: createFetch(addressesOf(file)), log },
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

/** Connects with the first command, so that a file can be read while Redis is unreachable. */
async function openRedisStore(
  url: string | undefined,
  { problems }: UpstreamSource['secrets'],
): Promise<RedisStore | undefined> {
  if (url === undefined) return undefined
  try {
    const { createClient } = await importPeerDependency('@redis/client@6', () => import('@redis/client'), 'A URL')
    // Throws for an invalid address.
    createClient({ url })
    return redisStore(url)
  } catch (error) {
    // An invalid address may be repeated in its error, with its password.
    const problem = isMissingModuleError(error) ? error.message : 'must be the address of a Redis server'
    problems.push(`login.store.redis: ${problem}`)
    return undefined
  }
}

function closeWithServer({ get, close }: RedisStore): ServerExtension {
  const ready = async (): Promise<boolean> => {
    await get('ping')
    return true
  }
  return { extends: 'server', name: 'loginStore', start: () => ({ ready, close }) }
}
