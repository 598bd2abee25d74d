import { parseJsonObject } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { JWK } from 'jose'
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
export type StoredKey = Readonly<Required<Pick<JWK, 'x' | 'y' | 'd'>>>

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

const isNonEmptyText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const readOptionalText = (value: unknown): string | undefined => (isNonEmptyText(value) ? value : undefined)
const toOptionalClient = (value: unknown): StoredClient | undefined =>
  isJsonObject(value) ? parseClient(value) : undefined
const toOptionalTime = (value: unknown): number | undefined => (Number.isFinite(value) ? Number(value) : undefined)

function parseToken(fields: JsonObject): StoredToken | undefined {
  const { access, refresh, renewAt, requested, clientId, client, thumbprint } = fields
  if (!isNonEmptyText(access) || !isNonEmptyText(clientId)) return undefined
  return {
    access,
    clientId,
    client: toOptionalClient(client),
    refresh: readOptionalText(refresh),
    renewAt: toOptionalTime(renewAt),
    requested: stringsOf(requested) ?? [],
    thumbprint: readOptionalText(thumbprint),
  }
}

function parseKey({ x, y, d }: JsonObject): StoredKey | undefined {
  return isNonEmptyText(x) && isNonEmptyText(y) && isNonEmptyText(d) ? { x, y, d } : undefined
}

function parseEndpoint({ issuer, resource, requested, refusesDpop }: JsonObject): StoredEndpoint | undefined {
  if (!isNonEmptyText(issuer) || !isNonEmptyText(resource)) return undefined
  return { issuer, resource, requested: stringsOf(requested) ?? [], refusesDpop: refusesDpop === true }
}

function parseClient({ id, secret, expiresAt, method, redirectUris, replaceAt }: JsonObject): StoredClient | undefined {
  if (!isNonEmptyText(id)) return undefined
  return {
    id,
    secret: readOptionalText(secret),
    expiresAt: toOptionalTime(expiresAt),
    method: readOptionalText(method),
    redirectUris: stringsOf(redirectUris) ?? [],
    replaceAt: toOptionalTime(replaceAt),
  }
}

function parsePendingLogin(fields: JsonObject): PendingLogin | undefined {
  const { endpoint, issuer, resource, requested, verifier, redirectUri, expiresAt } = fields
  const client = toOptionalClient(fields['client'])
  return isNonEmptyText(endpoint) &&
    isNonEmptyText(issuer) &&
    isNonEmptyText(resource) &&
    isNonEmptyText(verifier) &&
    isNonEmptyText(redirectUri) &&
    typeof expiresAt === 'number' &&
    client !== undefined
    ? { endpoint, issuer, resource, requested: stringsOf(requested) ?? [], verifier, redirectUri, client, expiresAt }
    : undefined
}

function parseBegunLogins({ issuer, states }: JsonObject): BegunLogins | undefined {
  return isNonEmptyText(issuer) ? { issuer, states: stringsOf(states) ?? [] } : undefined
}

/** Records of one kind. An unreadable record counts as absent, so its user has to log in again. */
export class RecordStore<T> {
  readonly #store: AuthStore
  readonly #name: string
  readonly #parse: (fields: JsonObject) => T | undefined

  /** `name` begins the keys. */
  constructor(store: AuthStore, name: string, parse: (fields: JsonObject) => T | undefined) {
    this.#store = store
    this.#name = name
    this.#parse = parse
  }

  /** Each part is encoded, so that none can contain the separator. */
  toKey(...keyParts: string[]): string {
    return [this.#name, ...keyParts.map(encodeURIComponent)].join(' ')
  }

  async read(key: string): Promise<T | undefined> {
    const fields = parseJsonObject((await this.#store.get(key)) ?? '')
    return fields && this.#parse(fields)
  }

  write(key: string, value: T): Promise<void> {
    return this.#store.set(key, JSON.stringify(value))
  }

  remove(key: string): Promise<void> {
    return this.#store.delete(key)
  }
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

export function openRecords(store: AuthStore): AuthRecords {
  return {
    store,
    tokens: new RecordStore(store, 'token', parseToken),
    endpoints: new RecordStore(store, 'endpoint', parseEndpoint),
    clients: new RecordStore(store, 'client', parseClient),
    pendingLogins: new RecordStore(store, 'flow', parsePendingLogin),
    begunLogins: new RecordStore(store, 'logins', parseBegunLogins),
    keys: new RecordStore(store, 'key', parseKey),
  }
}
