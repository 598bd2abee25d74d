import { parseJsonObject } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import { stringsOf } from './fetch-server.ts'
import type { AuthStore } from './store.ts'

/** A token, and the data to use and to renew it. Stored by issuer and resource, and sent to no other. */
export interface StoredToken {
  readonly access: string
  readonly refresh?: string | undefined
  /** Expiry of the access token in milliseconds since 1970. Unknown when the server did not report it. */
  readonly expiresAt?: number | undefined
  /** Time of its renewal, before it ends. */
  readonly renewAt?: number | undefined
  /** The requested scopes. The granted ones may be fewer. */
  readonly requested: readonly string[]
  readonly clientId: string
  /** The thumbprint of the key that the token is bound to (RFC 9449). A bearer token has none. */
  readonly thumbprint?: string | undefined
}

/** The private key of DPoP proofs: the members of an EC key of P-256. */
export interface StoredKey {
  readonly x: string
  readonly y: string
  readonly d: string
}

/** The last known authorization server and resource of an endpoint. */
export interface StoredEndpoint {
  readonly issuer: string
  readonly resource: string
  /** The scopes that logins have asked for so far. */
  readonly requested: readonly string[]
}

/** A client as one issuer knows it. */
export interface StoredClient {
  readonly id: string
  readonly secret?: string | undefined
  /** End of the secret, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  readonly method?: string | undefined
  readonly redirectUris: readonly string[]
}

/** A pending login: written before the redirect, used once. */
export interface PendingLogin {
  readonly endpoint: string
  readonly issuer: string
  readonly resource: string
  readonly requested: readonly string[]
  readonly verifier: string
  readonly redirectUri: string
  readonly client: StoredClient
  /** Expiry of the login in milliseconds since 1970. */
  readonly expiresAt: number
}

/** One kind of record: the name in its key, and its parser. */
interface RecordKind<T> {
  readonly name: string
  parse(fields: JsonObject): T | undefined
}

const isNonEmptyText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const toOptionalText = (value: unknown): string | undefined => (isNonEmptyText(value) ? value : undefined)
const toOptionalTime = (value: unknown): number | undefined => (Number.isFinite(value) ? Number(value) : undefined)

const tokenRecordKind: RecordKind<StoredToken> = {
  name: 'token',
  parse: ({ access, refresh, expiresAt, renewAt, requested, clientId, thumbprint }) =>
    isNonEmptyText(access) && isNonEmptyText(clientId)
      ? {
          access,
          clientId,
          refresh: toOptionalText(refresh),
          expiresAt: toOptionalTime(expiresAt),
          renewAt: toOptionalTime(renewAt),
          requested: stringsOf(requested) ?? [],
          thumbprint: toOptionalText(thumbprint),
        }
      : undefined,
}

const keyRecordKind: RecordKind<StoredKey> = {
  name: 'key',
  parse: ({ x, y, d }) => (isNonEmptyText(x) && isNonEmptyText(y) && isNonEmptyText(d) ? { x, y, d } : undefined),
}

const endpointRecordKind: RecordKind<StoredEndpoint> = {
  name: 'endpoint',
  parse: ({ issuer, resource, requested }) =>
    isNonEmptyText(issuer) && isNonEmptyText(resource)
      ? { issuer, resource, requested: stringsOf(requested) ?? [] }
      : undefined,
}

const clientRecordKind: RecordKind<StoredClient> = {
  name: 'client',
  parse: ({ id, secret, expiresAt, method, redirectUris }) =>
    isNonEmptyText(id)
      ? {
          id,
          secret: toOptionalText(secret),
          expiresAt: toOptionalTime(expiresAt),
          method: toOptionalText(method),
          redirectUris: stringsOf(redirectUris) ?? [],
        }
      : undefined,
}

const pendingLoginRecordKind: RecordKind<PendingLogin> = {
  name: 'flow',
  parse: ({ endpoint, issuer, resource, requested, verifier, redirectUri, client, expiresAt }) => {
    const parsedClient = isJsonObject(client) ? clientRecordKind.parse(client) : undefined
    return isNonEmptyText(endpoint) &&
      isNonEmptyText(issuer) &&
      isNonEmptyText(resource) &&
      isNonEmptyText(verifier) &&
      isNonEmptyText(redirectUri) &&
      typeof expiresAt === 'number' &&
      parsedClient !== undefined
      ? {
          endpoint,
          issuer,
          resource,
          requested: stringsOf(requested) ?? [],
          verifier,
          redirectUri,
          client: parsedClient,
          expiresAt,
        }
      : undefined
  },
}

/** The records of one kind in a store. */
export interface RecordStore<T> {
  readonly toKey: (...keyParts: string[]) => string
  read(key: string): Promise<T | undefined>
  write(key: string, value: T): Promise<void>
  remove(key: string): Promise<void>
}

/** Records that the client keeps, by kind. */
export interface AuthRecords {
  readonly store: AuthStore
  readonly tokens: RecordStore<StoredToken>
  readonly endpoints: RecordStore<StoredEndpoint>
  readonly clients: RecordStore<StoredClient>
  readonly pendingLogins: RecordStore<PendingLogin>
  readonly keys: RecordStore<StoredKey>
}

/** Opens a store. A record that cannot be read counts as absent, and its user has to log in again. */
export function openRecords(store: AuthStore): AuthRecords {
  const createRecordStore = <T>({ name, parse }: RecordKind<T>): RecordStore<T> => ({
    // The parts are encoded, so that no part contains the separator.
    toKey: (...keyParts) => [name, ...keyParts.map(encodeURIComponent)].join(' '),
    read: async (key) => {
      const fields = parseJsonObject((await store.get(key)) ?? '')
      return fields === undefined ? undefined : parse(fields)
    },
    write: (key, value) => store.set(key, JSON.stringify(value)),
    remove: (key) => store.delete(key),
  })
  return {
    store,
    tokens: createRecordStore(tokenRecordKind),
    endpoints: createRecordStore(endpointRecordKind),
    clients: createRecordStore(clientRecordKind),
    pendingLogins: createRecordStore(pendingLoginRecordKind),
    keys: createRecordStore(keyRecordKind),
  }
}
