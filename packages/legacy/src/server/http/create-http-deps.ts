import type { CallDeps } from '../call/call-deps.ts'
import { SessionStates } from '../session/session-state.ts'
import { createSessions, type Sessions } from '../session/session.ts'
import { createFinishedStreams } from './finished-streams.ts'
import type { HttpDeps, InstanceLink } from './http-deps.ts'
import { createLink } from './link/link.ts'

/** Creates the dependencies of the HTTP adapter, without a session. */
export function createHttpDeps(deps: CallDeps): HttpDeps {
  const { settings } = deps
  const link = settings.link && createLink(settings.link, deps, () => httpDeps)
  const httpDeps: HttpDeps = {
    callDeps: deps,
    link,
    sessions: linkSessions(createSessions(settings, deps), link),
    sessionStates: new SessionStates(settings, deps.ledger),
    finishedStreams: createFinishedStreams(deps),
  }
  return httpDeps
}

/**
 * Returns sessions that several instances share. A session that is ended or changed at one instance is ended or changed
 * at every instance.
 */
function linkSessions(sessions: Sessions, link: InstanceLink | undefined): Sessions {
  if (link === undefined) return sessions
  return {
    ...sessions,
    async open(id, caller) {
      const session = await sessions.open(id, caller)
      return session !== undefined && (await link.openSession(session, caller)) ? session : undefined
    },
    isLive: async (session, caller) =>
      (await sessions.isLive(session, caller)) && (await link.openSession(session, caller)),
    end(session, caller) {
      sessions.end(session, caller)
      // The store has a record of every ended session, also of those that this process cannot remember.
      return true
    },
  }
}
