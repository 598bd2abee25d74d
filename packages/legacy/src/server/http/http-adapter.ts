import { callerKeyOf, type HttpProtocolAdapter } from '@x/schema'
import { findRevision } from '../../revisions.ts'
import type { Deps } from '../deps.ts'
import { createLink } from '../link/link.ts'
import { createSessionStates } from '../session-state.ts'
import { createSessions, type Sessions } from '../session.ts'
import type { HttpDeps, InstanceLink } from './http-deps.ts'
import { serveDelete, serveGet } from './serve-get.ts'
import { servePost, sessionHeader } from './serve-post.ts'

/** The adapter over HTTP, and how it ends. */
export interface LegacyHttpAdapter {
  readonly adapter: HttpProtocolAdapter
  /**
   * Ends the streams that last, and leaves calls that wait to other instances. Returns a function that takes new ones
   * again.
   */
  drain(): () => void
  /** Ends everything. */
  close(): void
}

/** Makes the adapter that serves older clients over HTTP. */
export function createHttpAdapter(deps: Deps): LegacyHttpAdapter {
  const { settings } = deps
  const link = settings.link && createLink(settings.link, deps, () => httpDeps)
  const httpDeps: HttpDeps = {
    deps,
    link,
    sessions: linkSessions(createSessions(settings, deps.now), link),
    sessionStates: createSessionStates(settings),
    resumedRounds: new Map(),
  }
  const endListening = (): void => {
    for (const { listeningStream } of httpDeps.sessionStates.listStates()) listeningStream?.end()
  }
  return {
    adapter: {
      revisions: settings.revisions,
      methods: ['GET', 'DELETE'],
      exposedHeaders: [sessionHeader],
      matches({ method, header }) {
        if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') return false
        const version = header('mcp-protocol-version')
        return version === undefined || findRevision(version, settings.revisions) !== undefined
      },
      async handle(view) {
        await link?.listen()
        if (view.method === 'POST') return servePost(view, httpDeps)
        return view.method === 'GET' ? serveGet(view, httpDeps) : serveDelete(view, httpDeps)
      },
    },
    drain() {
      endListening()
      return link?.drain() ?? (() => {})
    },
    close() {
      endListening()
      link?.close()
      for (const { streams } of httpDeps.sessionStates.listStates())
        for (const stream of streams.values()) stream.abandon()
    },
  }
}

/** Sessions that end at every instance at once, and whose settings hold at every one. */
function linkSessions(sessions: Sessions, link: InstanceLink | undefined): Sessions {
  if (link === undefined) return sessions
  return {
    ...sessions,
    async open(id, caller) {
      const session = await sessions.open(id, caller)
      return session !== undefined && (await link.openSession(session, callerKeyOf(caller))) ? session : undefined
    },
  }
}
