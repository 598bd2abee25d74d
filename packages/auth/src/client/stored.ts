import { parseJsonObject } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import { stringsOf } from './fetch-server.ts'
import type { AuthStore } from './store.ts'

/** A token, and what using and renewing it needs. It is stored by issuer and resource, and sent to no other server. */
export interface StoredToken {
  readonly access: string
  readonly refresh?: string | undefined
  /**
   * When the token is renewed, before it expires, in milliseconds since 1970. Undefined if the server gave no lifetime.
   */
  readonly renewAt?: number | undefined
  /** Scopes that were requested. The server may have granted fewer. */
  readonly requested: readonly string[]
  readonly clientId: string
  /**
   * Registration to which the token was issued, for refresh and revocation. Undefined if the program's options have
   * this client.
   */
  readonly client?: StoredClient | undefined
  /** Thumbprint of the key to which the token is bound (RFC 9449). Undefined for a bearer token. */
  readonly thumbprint?: string | undefined
}

/** Private key of DPoP proofs: a P-256 key in JWK format. */
export interface StoredKey {
  readonly x: string
  readonly y: string
  readonly d: string
}

/** Authorization server and resource of an endpoint at its last login. */
export interface StoredEndpoint {
  readonly issuer: string
  readonly resource: string
  /** Scopes that the logins at this endpoint have requested. */
  readonly requested: readonly string[]
  /** The endpoint refused a token because it is bound to a key, so its logins request bearer tokens. */
  readonly refusesDpop?: boolean | undefined
}

/** A client that is registered at one issuer. */
export interface StoredClient {
  readonly id: string
  readonly secret?: string | undefined
  /** When the secret expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  readonly method?: string | undefined
  readonly redirectUris: readonly string[]
  /**
   * From then on a login registers again, in milliseconds since 1970. An authorization server that has forgotten a
   * client shows an error in the browser and redirects nowhere, so an unanswered login is the only sign.
   */
  readonly replaceAt?: number | undefined
}

/** A login that waits for its response. The record is written before the redirect and used once. */
export interface PendingLogin {
  readonly endpoint: string
  readonly issuer: string
  readonly resource: string
  readonly requested: readonly string[]
  readonly verifier: string
  readonly redirectUri: string
  readonly client: StoredClient
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Logins that were begun at an endpoint. `logout` ends them, also those of other processes. */
export interface BegunLogins {
  readonly issuer: string
  /** The latest values of `state`, the newest last. Their logins may have ended. */
  readonly states: readonly string[]
}

/** `name` begins its keys; `parse` returns undefined for an invalid record. */
interface RecordKind<T> {
  readonly name: string
  parse(fields: JsonObject): T | undefined
}

const isNonEmptyText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const readOptionalText = (value: unknown): string | undefined => (isNonEmptyText(value) ? value : undefined)
const toOptionalClient = (value: unknown): StoredClient | undefined =>
  isJsonObject(value) ? clientRecordKind.parse(value) : undefined
const toOptionalTime = (value: unknown): number | undefined => (Number.isFinite(value) ? Number(value) : undefined)

const tokenRecordKind: RecordKind<StoredToken> = {
  name: 'token',
  parse: ({ access, refresh, renewAt, requested, clientId, client, thumbprint }) =>
    isNonEmptyText(access) && isNonEmptyText(clientId)
      ? {
          access,
          clientId,
          client: toOptionalClient(client),
          refresh: readOptionalText(refresh),
          renewAt: toOptionalTime(renewAt),
          requested: stringsOf(requested) ?? [],
          thumbprint: readOptionalText(thumbprint),
        }
      : undefined,
}

const keyRecordKind: RecordKind<StoredKey> = {
  name: 'key',
  parse: ({ x, y, d }) => (isNonEmptyText(x) && isNonEmptyText(y) && isNonEmptyText(d) ? { x, y, d } : undefined),
}

const endpointRecordKind: RecordKind<StoredEndpoint> = {
  name: 'endpoint',
  parse: ({ issuer, resource, requested, refusesDpop }) =>
    isNonEmptyText(issuer) && isNonEmptyText(resource)
      ? { issuer, resource, requested: stringsOf(requested) ?? [], refusesDpop: refusesDpop === true }
      : undefined,
}

const clientRecordKind: RecordKind<StoredClient> = {
  name: 'client',
  parse: ({ id, secret, expiresAt, method, redirectUris, replaceAt }) =>
    isNonEmptyText(id)
      ? {
          id,
          secret: readOptionalText(secret),
          expiresAt: toOptionalTime(expiresAt),
          method: readOptionalText(method),
          redirectUris: stringsOf(redirectUris) ?? [],
          replaceAt: toOptionalTime(replaceAt),
        }
      : undefined,
}

const pendingLoginRecordKind: RecordKind<PendingLogin> = {
  name: 'flow',
  parse: ({ endpoint, issuer, resource, requested, verifier, redirectUri, client, expiresAt }) => {
    const parsedClient = toOptionalClient(client)
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

const begunLoginsRecordKind: RecordKind<BegunLogins> = {
  name: 'logins',
  parse: ({ issuer, states }) => (isNonEmptyText(issuer) ? { issuer, states: stringsOf(states) ?? [] } : undefined),
}

export interface RecordStore<T> {
  readonly toKey: (...keyParts: string[]) => string
  read(key: string): Promise<T | undefined>
  write(key: string, value: T): Promise<void>
  remove(key: string): Promise<void>
}

/** A store's records, by kind. */
export interface AuthRecords {
  readonly store: AuthStore
  readonly tokens: RecordStore<StoredToken>
  readonly endpoints: RecordStore<StoredEndpoint>
  readonly clients: RecordStore<StoredClient>
  readonly pendingLogins: RecordStore<PendingLogin>
  readonly begunLogins: RecordStore<BegunLogins>
  readonly keys: RecordStore<StoredKey>
}

/** An unreadable record counts as absent, so its user has to log in again. */
export function openRecords(store: AuthStore): AuthRecords {
  const createRecordStore = <T>({ name, parse }: RecordKind<T>): RecordStore<T> => ({
    // Each part is encoded, so that none can contain the separator.
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
    begunLogins: createRecordStore(begunLoginsRecordKind),
    keys: createRecordStore(keyRecordKind),
  }
}
