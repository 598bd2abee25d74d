import { type CallOptions, type Client, type ClientOptions, createClient } from '@x/client'
import { type Exchange, isJsonObject, type JsonObject } from '@x/schema'
import { parseSessionMetadata, sessionKey, type SessionMetadata, sessionMethods } from '../session-metadata.ts'
import { type KeptSession, keepSession, type SessionOwner, takeUp } from './kept-session.ts'
import { isSessionNotFound } from './not-found.ts'
import { SessionError } from './session-error.ts'
import { withinSession } from './session-exchange.ts'
import { metadataOf, recordOf, type SessionRecord } from './session-state.ts'

/** What `createSessionsClient` takes. */
export interface SessionsClientOptions extends ClientOptions {
  /** Which server this is, for sessions that are kept. Default: the connection's `url`. */
  readonly target?: string | undefined
  /** Whose sessions these are, for those that are kept: the user whom the server authenticates, or null where it does not. */
  readonly user?: string | null | undefined
}

/** A client, and the sessions of its server. Its own calls are outside of any. */
export interface SessionsClient extends Client {
  readonly sessions: ClientSessions
}

/** How sessions begin. */
export interface ClientSessions {
  /** Creates a session, for one conversation or task. Rejects with `ClientError`, `rpc` where the server has no sessions. */
  create(options?: CallOptions): Promise<ClientSession>
  /** Takes up a session that was kept, in this process or another. Throws {@link SessionError} for one that is not this client's to use. */
  resume(kept: unknown): ClientSession
}

/**
 * A client whose calls are those of one session: each names it, and brings back what the server wants it to remember. Nothing that it
 * has cached is seen by other sessions. With `await using` it is deleted at the end of its scope.
 */
export interface ClientSession extends Client, AsyncDisposable {
  readonly id: string
  /** When the server says that it ends, in ISO 8601: a hint, for people. */
  readonly expiresAt: string | undefined
  /** Whether it is over, because it was deleted here or the server does not know it any more. */
  readonly isOver: boolean
  /** The session as plain JSON, for `sessions.resume`. Throws {@link SessionError} `unidentified` where nobody said whose it is. */
  keep(): KeptSession
  /** Deletes it, so that the server can free what belongs to it. A session that is over already is left alone. */
  delete(options?: CallOptions): Promise<void>
}

/**
 * Makes a client that can have sessions: any number side by side, such as one for each conversation (seed data-layer-sessions).
 *
 * @example
 * const client = createSessionsClient(connection, { name: 'host', version: '1.0.0' })
 * await using session = await client.sessions.create()
 * await session.callTool('count')
 */
export function createSessionsClient(
  exchange: Exchange & { readonly url?: string | undefined; readonly closed?: AbortSignal | undefined },
  options: SessionsClientOptions,
): SessionsClient {
  const { target = exchange.url, user, ...clientOptions } = options
  const declaring = declareSessions(clientOptions)
  const client = createClient(exchange, declaring)
  const open = (metadata: SessionMetadata): ClientSession =>
    openSession(recordOf(metadata), { exchange, options: declaring, owner: { target, user } })
  return addMembers(client, {
    sessions: {
      create: async (how: CallOptions = {}) => {
        const result = await client.request(sessionMethods.create, {}, outsideSessions(how))
        const session = parseSessionMetadata(result.session)
        if (!('issue' in session)) return open(session)
        throw new SessionError('invalid_answer', `The session that the server created ${session.issue}`)
      },
      resume: (kept: unknown) => open(takeUp(kept, { target, user })),
    },
  })
}

interface SessionContext {
  readonly exchange: Exchange
  readonly options: ClientOptions
  readonly owner: SessionOwner
}

function openSession(record: SessionRecord, { exchange, options, owner }: SessionContext): ClientSession {
  // What the server shows may depend on what it remembers of the session, so that another state makes what was kept stale.
  const within = withinSession(exchange, record, () => session.cache.clear())
  const session = createClient(within, { ...options, cache: cacheOf(options, record) })

  const remove = async (how: CallOptions = {}): Promise<void> => {
    if (record.end !== undefined) return
    try {
      await session.request(sessionMethods.delete, {}, how)
    } catch (error) {
      if (!isSessionNotFound(error)) throw error
    }
    record.end ??= 'deleted'
  }
  return addMembers(session, {
    id: record.id,
    get expiresAt() {
      return record.expiresAt
    },
    get isOver() {
      return record.end !== undefined
    },
    keep: () => keepSession({ ...metadataOf(record), ...(record.expiresAt && { expiresAt: record.expiresAt }) }, owner),
    delete: remove,
    // What could not be deleted expires; an error here would hide the one that ended the scope.
    [Symbol.asyncDispose]: () => remove().catch(() => {}),
  })
}

/** A cache of the session's own, or its own part of a store that clients share. */
function cacheOf({ cache }: ClientOptions, { id }: SessionRecord): ClientOptions['cache'] {
  if (cache === undefined || cache === false || cache.shared === undefined) return cache
  const { store, partition } = cache.shared
  return { ...cache, shared: { store, partition: JSON.stringify([partition, id]) } }
}

/** seed data-layer-sessions, capabilities: clients declare sessions among the experimental ones. */
function declareSessions(options: ClientOptions): ClientOptions {
  const { capabilities = {} } = options
  return { ...options, capabilities: { ...capabilities, experimental: { ...capabilities.experimental, sessions: {} } } }
}

/** seed data-layer-sessions, creating sessions: the request that creates a session must not name one. */
function outsideSessions({ meta, ...options }: CallOptions): CallOptions {
  if (!isJsonObject(meta)) return options
  const { [sessionKey]: _session, ...others }: JsonObject = meta
  return { ...options, meta: others }
}

/** Adds members to a client as they are, getters included. */
function addMembers<T extends object, M extends object>(target: T, members: M): T & M {
  define(target, members)
  return target
}

function define<T extends object, M extends object>(target: T, members: M): asserts target is T & M {
  Object.defineProperties(target, Object.getOwnPropertyDescriptors(members))
}
