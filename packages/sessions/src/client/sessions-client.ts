import type { CallOptions, Client, ClientExtension, ClientExtensionHost } from '@x/client'
import { type OptionTable, resolveOptions } from '@x/core'
import { identifyingUrlOf } from '@x/exchange/internal'
import { isJsonObject, type JsonObject } from '@x/schema'
import {
  parseSessionMetadata,
  sessionKey,
  type SessionMetadata,
  sessionMethods,
  sessionsIdentifier,
} from '../session-metadata.ts'
import { SessionError } from '../session-error.ts'
import { isSessionNotFound } from './session-not-found.ts'
import {
  deserializeSession,
  type SerializedSession,
  serializeSession,
  type SessionOwner,
} from './serialized-session.ts'
import { createClientSessionMiddleware } from './session-middleware.ts'
import { SessionRecord } from './session-state.ts'

/** The options of {@link sessionsClient}. */
export interface SessionsClientOptions {
  /**
   * Name of the server in serialized sessions. Default: the URL of a connection over HTTP. Give one for a server in this
   * process or over stdio, and for one that you reach at several URLs.
   */
  readonly target?: string | undefined
  /**
   * Name of the user in serialized sessions: the subject that the server authenticates, or null if the server does not
   * authenticate.
   */
  readonly user?: string | null | undefined
}

/** What `client.sessions` can do. */
export interface SessionsClient {
  /**
   * Creates a session, for one conversation or task. Rejects with `ClientError`, with the code `rpc` if the server has
   * no sessions, and with {@link SessionError} `invalid_answer` if it returns an invalid one.
   */
  create(options?: CallOptions): Promise<ClientSession>
  /**
   * Resumes a serialized session, in this process or another. Throws {@link SessionError}: `malformed` for a value that
   * is no session, `foreign` for one of another server or user, and `unidentified` if the server or the user of this
   * client is not known.
   */
  resume(serializedSession: unknown): ClientSession
}

/**
 * A client whose calls are within one session. Each request carries the session's id and last state; a response may
 * bring a new one, which the next request sends. The session has a cache of its own. With `await using` it is deleted
 * at the end of the scope.
 */
export interface ClientSession extends Client {
  readonly id: string
  /** When the session expires according to the server, in ISO 8601, for display. */
  readonly expiresAt: string | undefined
  /** True once this client has deleted the session, or the server no longer knows it. */
  readonly ended: boolean
  /**
   * Gives the session as plain JSON, for `resume`. Throws {@link SessionError} `unidentified` if the option `target` or
   * `user` is missing.
   */
  serialize(): SerializedSession
  /** Deletes the session, so that the server can free its resources. Does nothing if the session has ended. */
  delete(options?: CallOptions): Promise<void>
  /** Closes what extensions of this client opened for the session. The session itself continues at the server. */
  close(): Promise<void>
}

/**
 * Adds sessions to a client (seed data-layer-sessions). It may have several at a time, such as one for each
 * conversation. Calls of the client itself belong to none.
 *
 * @example
 * const client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [sessionsClient()] })
 * await using session = await client.sessions.create()
 * await session.callTool('count')
 */
export function sessionsClient(options: SessionsClientOptions = {}): ClientExtension<'sessions', SessionsClient> {
  resolveOptions(options, clientSessionsOptionTable, 'sessions')
  return {
    extends: 'client',
    name: 'sessions',
    identifier: sessionsIdentifier,
    // seed data-layer-sessions, capabilities: clients declare sessions under `experimental`.
    capabilities: { experimental: { sessions: {} } },
    start: (host) => ({
      api: createSessionsClient(host, { target: options.target ?? identifyingUrlOf(host), user: options.user }),
    }),
  }
}

const clientSessionsOptionTable = { target: undefined, user: undefined } satisfies OptionTable<SessionsClientOptions>

function createSessionsClient(host: ClientExtensionHost, owner: SessionOwner): SessionsClient {
  const openFromMetadata = (metadata: SessionMetadata): ClientSession =>
    openClientSession(new SessionRecord(metadata), host, owner)
  return {
    create: async (options = {}) => {
      // If the response is lost, the session that the server created is never used and ends by itself.
      const requestOptions = { ...omitSessionMetadata(options), repeatable: true }
      const result = await host.request(sessionMethods.create, {}, requestOptions)
      const metadata = parseSessionMetadata(result.session)
      if (!('issue' in metadata)) return openFromMetadata(metadata)
      throw new SessionError('invalid_answer', `The session that the server created ${metadata.issue}`)
    },
    resume: (serializedSession) => openFromMetadata(deserializeSession(serializedSession, owner)),
  }
}

function openClientSession(record: SessionRecord, host: ClientExtensionHost, owner: SessionOwner): ClientSession {
  // Results may depend on the state of the session, so a new state makes cached ones stale.
  const middleware = createClientSessionMiddleware(record, () => client.cache.clear())
  const { cache } = host.options
  const client = host.fork(middleware, { cache: cache && cache.partition(record.id) })
  const { close } = client

  const removeSession = async (options: CallOptions = {}): Promise<void> => {
    if (record.hasEnded) return
    try {
      await client.request(sessionMethods.delete, {}, options)
    } catch (error) {
      if (!isSessionNotFound(error)) throw error
    }
    record.end('deleted')
  }
  const members = {
    id: record.id,
    get expiresAt() {
      return record.expiresAt
    },
    get ended() {
      return record.hasEnded
    },
    serialize: () =>
      serializeSession({ ...record.metadata, ...(record.expiresAt && { expiresAt: record.expiresAt }) }, owner),
    delete: removeSession,
    // If the deletion fails, the session expires later. The error is dropped, because it would replace the one that
    // ended the scope.
    [Symbol.asyncDispose]: () =>
      removeSession()
        .catch(() => {})
        .then(close),
  }
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(members)) as Client & typeof members
}

/** seed data-layer-sessions, creating sessions: the request that creates a session must not contain one. */
function omitSessionMetadata({ meta, ...options }: CallOptions): CallOptions {
  if (!isJsonObject(meta)) return options
  const { [sessionKey]: _session, ...others }: JsonObject = meta
  return { ...options, meta: others }
}
