import type { CallOptions, Client, ClientExtension, ClientExtensionHost, CoreClientOptions } from '@x/client'
import { checkOptions } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import {
  parseSessionMetadata,
  sessionKey,
  type SessionMetadata,
  sessionMethods,
  sessionsIdentifier,
} from '../session-metadata.ts'
import { isSessionNotFound, SessionError } from './session-error.ts'
import {
  deserializeSession,
  type SerializedSession,
  serializeSession,
  type SessionOwner,
} from './serialized-session.ts'
import { createClientSessionMiddleware } from './session-middleware.ts'
import { toSessionMetadata, createRecord, type SessionRecord } from './session-state.ts'

/** The options of {@link sessions}. */
export interface ClientSessionsOptions {
  /** The server, as serialized sessions name it. Default: the connection's `url`. */
  readonly target?: string | undefined
  /**
   * The user, as serialized sessions name it: the subject that the server authenticates, or null where it authenticates
   * none.
   */
  readonly user?: string | null | undefined
}

/** The member that sessions add to their client. */
export interface ClientSessions {
  /**
   * Creates a session, for one conversation or task. Rejects with `ClientError`, `rpc` where the server has no
   * sessions.
   */
  create(options?: CallOptions): Promise<ClientSession>
  /**
   * Resumes a session that was serialized, in this process or another. Throws {@link SessionError} for a value that is
   * no session, or one of another server or user.
   */
  resume(serializedSession: unknown): ClientSession
}

/**
 * A client whose calls are within one session: each names it, and brings back the state that the server wants to be
 * sent with the next. Its cache is its own. With `await using` it is deleted at the end of its scope.
 */
export interface ClientSession extends Client {
  readonly id: string
  /** The end of the session as the server states it, in ISO 8601, for display. */
  readonly expiresAt: string | undefined
  /** True when the session has ended: it was deleted here, or the server no longer knows it. */
  readonly ended: boolean
  /**
   * Returns the session as plain JSON, for `resume`. Throws {@link SessionError} `unidentified` without a `target` or
   * `user`.
   */
  serialize(): SerializedSession
  /** Deletes the session, so that the server can free its resources. Does nothing for one that has ended. */
  delete(options?: CallOptions): Promise<void>
  /** Closes the parts that extensions opened for the session. The session itself continues at the server. */
  close(): Promise<void>
}

/**
 * Makes the sessions extension of a client (seed data-layer-sessions): any number of sessions side by side, such as one
 * for each conversation. The client's own calls are outside of all sessions.
 *
 * @example
 * const client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [sessions()] })
 * await using session = await client.sessions.create()
 * await session.callTool('count')
 */
export function sessions(options: ClientSessionsOptions = {}): ClientExtension<'sessions', ClientSessions> {
  checkOptions(options, clientSessionsOptionNames, 'sessions')
  return {
    side: 'client',
    name: 'sessions',
    identifier: sessionsIdentifier,
    // seed data-layer-sessions, capabilities: clients declare sessions among the experimental ones.
    capabilities: { experimental: { sessions: {} } },
    start: (host) => ({
      api: createClientSessions({ host, owner: { target: options.target ?? host.url, user: options.user } }),
    }),
  }
}

const clientSessionsOptionNames = { target: true, user: true } as const satisfies Record<
  keyof ClientSessionsOptions,
  true
>

interface SessionDeps {
  readonly host: ClientExtensionHost
  readonly owner: SessionOwner
}

function createClientSessions(deps: SessionDeps): ClientSessions {
  const { host, owner } = deps
  const openFromMetadata = (metadata: SessionMetadata): ClientSession => openClientSession(createRecord(metadata), deps)
  return {
    create: async (options = {}) => {
      const result = await host.request(sessionMethods.create, {}, omitSessionMetadata(options))
      const metadata = parseSessionMetadata(result.session)
      if (!('issue' in metadata)) return openFromMetadata(metadata)
      throw new SessionError('invalid_answer', `The session that the server created ${metadata.issue}`)
    },
    resume: (serializedSession) => openFromMetadata(deserializeSession(serializedSession, owner)),
  }
}

function openClientSession(record: SessionRecord, { host, owner }: SessionDeps): ClientSession {
  // Results may depend on the state of the session, so that another state makes those in the cache stale.
  const middleware = createClientSessionMiddleware({ record, onStateChange: () => client.cache.clear() })
  const client = host.fork(middleware, { cache: createCacheOptions(host.options, record) })
  const { close } = client

  const removeSession = async (options: CallOptions = {}): Promise<void> => {
    if (record.endReason !== undefined) return
    try {
      await client.request(sessionMethods.delete, {}, options)
    } catch (error) {
      if (!isSessionNotFound(error)) throw error
    }
    record.endReason ??= 'deleted'
  }
  return addMembers(client, {
    id: record.id,
    get expiresAt() {
      return record.expiresAt
    },
    get ended() {
      return record.endReason !== undefined
    },
    serialize: () =>
      serializeSession(
        { ...toSessionMetadata(record), ...(record.expiresAt && { expiresAt: record.expiresAt }) },
        owner,
      ),
    delete: removeSession,
    // A session that could not be deleted expires. An error of the deletion would hide the error that ended the scope.
    [Symbol.asyncDispose]: () =>
      removeSession()
        .catch(() => {})
        .then(close),
  })
}

/** Returns a cache of the session's own, or its own part of a store that clients share. */
function createCacheOptions({ cache }: CoreClientOptions, { id }: SessionRecord): CoreClientOptions['cache'] {
  return cache && cache.partition(id)
}

/** seed data-layer-sessions, creating sessions: the request that creates a session must not name one. */
function omitSessionMetadata({ meta, ...options }: CallOptions): CallOptions {
  if (!isJsonObject(meta)) return options
  const { [sessionKey]: _session, ...others }: JsonObject = meta
  return { ...options, meta: others }
}

/** Adds members to a client as they are, getters included. */
function addMembers<T extends object, M extends object>(target: T, members: M): T & M {
  defineMembers(target, members)
  return target
}

function defineMembers<T extends object, M extends object>(target: T, members: M): asserts target is T & M {
  Object.defineProperties(target, Object.getOwnPropertyDescriptors(members))
}
