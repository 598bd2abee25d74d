import { BoundedMap, isLimitError, type Ledger, randomId, sha256Hex } from '@x/core'
import { callerKeyOf, type Principal } from '@x/exchange'
import { type ClientCapabilities, type Implementation, isJsonObject, type JsonValue } from '@x/schema'
import { principalIdentityOf } from '@x/exchange/internal'
import { isStateError } from '@x/state-codec'
import { toClientCapabilities } from '../../translate/capabilities.ts'
import { findRevision } from '../../translate/revisions.ts'
import type { LegacyClient } from '../../translate/request.ts'
import type { Caller } from './deps.ts'
import type { LegacySettings } from './options.ts'

/** An older client's session over HTTP. Its id contains the whole session in sealed form. */
export interface Session extends LegacyClient {
  /** A random key. Clients only see it in sealed form. */
  readonly key: string
  /** Digest of the key, which the session's calls carry in their context. */
  readonly digest: string
  /** When the session expires, in milliseconds since 1970. */
  readonly expiresAt: number
}

export interface Sessions {
  /** Makes the sealed id of a new session. Undefined if the client's info and capabilities are too large. */
  seal(client: LegacyClient, principal: Principal | undefined): Promise<string | undefined>
  /**
   * Opens an id. Undefined if it was altered or belongs to another principal, or if the session has expired or was
   * ended.
   */
  open(id: string, caller: Caller): Promise<Session | undefined>
  /** Resolves with false if a session that was opened before has expired or was ended. */
  isLive(session: Session, caller: Caller): Promise<boolean>
  /**
   * Rejects a session's id from now on. False if the caller has ended too many sessions that have not expired; the id
   * then stays valid until it expires.
   */
  end(session: Session, caller: Caller): boolean
}

const sessionPurpose = 'legacy-session'
const maxIdLength = 4096
const largeIdLength = 2048
const maxRememberedSessions = 1000

/** Nothing is stored, because a session's id contains the session: any instance with the same keys can open it. */
export function createSessions(
  settings: LegacySettings,
  { now, ledger }: { readonly now: () => number; readonly ledger: Ledger },
): Sessions {
  const openedSessions = new BoundedMap<string, Session>(maxRememberedSessions)
  const endedSessions = createEndedSessions(ledger, now)
  const isLive = ({ key, expiresAt }: Session): boolean => now() < expiresAt && !endedSessions.has(key)

  async function openSealedSession(id: string, principal: Principal | undefined): Promise<Session | undefined> {
    const cacheKey = JSON.stringify([id, principalIdentityOf(principal)])
    const knownSession = openedSessions.get(cacheKey)
    if (knownSession !== undefined) return knownSession
    const claims = { purpose: sessionPurpose, binding: principalIdentityOf(principal), reusable: true }
    const value = await settings.state.open(id, claims)
    const session = await parseSession(value, settings)
    if (session !== undefined) openedSessions.set(cacheKey, session)
    return session
  }

  return {
    async seal(client, principal) {
      const { revision, info, capabilities } = client
      for (const [givenInfo, givenCapabilities] of listDescriptions(info, capabilities)) {
        const key = randomId()
        const value = [revision, givenInfo ?? null, givenCapabilities, now() + settings.sessionTtlMs, key]
        const sealOptions = {
          purpose: sessionPurpose,
          binding: principalIdentityOf(principal),
          ttlMs: settings.sessionTtlMs,
        }
        const id = await settings.state.seal(value, sealOptions)
        if (id.length > maxIdLength) continue
        if (id.length > largeIdLength) {
          const message = `A session id has ${id.length} bytes: proxies that allow less for a header cut it off`
          settings.warn({ code: 'large_session', message })
        }
        return id
      }
      return undefined
    },
    async open(id, { principal }) {
      if (id.length > maxIdLength) return warnRejectedSession(settings, 'it is too long')
      try {
        const session = await openSealedSession(id, principal)
        if (session === undefined) return warnRejectedSession(settings, 'its content has an unknown format')
        return isLive(session) ? session : warnRejectedSession(settings, 'it has expired or was ended')
      } catch (error) {
        // If the codec's store is unreachable, the session may still be valid.
        if (!isStateError(error) || error.code === 'unavailable') throw error
        return warnRejectedSession(settings, error.detail)
      }
    },
    isLive: (session) => Promise.resolve(isLive(session)),
    end: (session, caller) => endedSessions.add(session, callerKeyOf(caller)),
  }
}

function createEndedSessions(ledger: Ledger, now: () => number) {
  const entries = new Map<string, { readonly expiresAt: number; readonly release: () => void }>()
  const forgetExpired = (): void => {
    for (const [key, { expiresAt, release }] of entries) {
      if (now() < expiresAt) return
      entries.delete(key)
      release()
    }
  }
  return {
    has: (key: string): boolean => entries.has(key),
    add({ key, expiresAt }: Session, callerKey: string): boolean {
      forgetExpired()
      if (entries.has(key)) return true
      try {
        entries.set(key, { expiresAt, release: ledger.take('ended_sessions', callerKey) })
        return true
      } catch (error) {
        if (!isLimitError(error)) throw error
        return false
      }
    },
  }
}

function warnRejectedSession({ warn }: LegacySettings, reason: string): undefined {
  warn({ code: 'session_rejected', message: `A session id was not accepted: ${reason}` })
  return undefined
}

function listDescriptions(
  info: Implementation | undefined,
  capabilities: ClientCapabilities,
): readonly (readonly [Implementation | undefined, ClientCapabilities])[] {
  const shortInfo = info && { name: info.name, version: info.version }
  const { experimental: _experimental, ...withoutExperimental } = capabilities
  const { extensions: _extensions, ...small } = withoutExperimental
  return [
    [info, capabilities],
    [shortInfo, capabilities],
    [shortInfo, withoutExperimental],
    [shortInfo, small],
  ]
}

// Sealed by `seal`, of this or another version of the package.
async function parseSession(value: JsonValue, { revisions }: LegacySettings): Promise<Session | undefined> {
  const [revisionName, info, declaredCapabilities, expiresAt, key] = Array.isArray(value) ? value : []
  const revision = findRevision(revisionName, revisions)
  if (revision === undefined || typeof expiresAt !== 'number' || typeof key !== 'string') return undefined
  if (!isJsonObject(declaredCapabilities)) return undefined
  return {
    revision,
    info: readImplementation(info),
    capabilities: toClientCapabilities(declaredCapabilities),
    expiresAt,
    key,
    digest: await sha256Hex(key),
  }
}

/**
 * Describes a client's software without its icons, because a session id contains it. Undefined if its name or version
 * is malformed.
 */
export function readImplementation(info: JsonValue | undefined): Implementation | undefined {
  if (!isJsonObject(info)) return undefined
  const { name, version, title, description, websiteUrl } = info
  if (typeof name !== 'string' || typeof version !== 'string') return undefined
  return {
    name,
    version,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof websiteUrl === 'string' && { websiteUrl }),
  }
}
