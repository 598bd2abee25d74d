import { callerKeyOf } from '@x/exchange'
import type { CallDeps } from '../call/call-deps.ts'
import { SessionStates } from '../session/session-state.ts'
import { createSessions, type Sessions } from '../session/session.ts'
import { adoptRound } from './adopt-round.ts'
import { FinishedStreams } from './finished-streams.ts'
import type { HttpDeps } from './http-deps.ts'
import { InstanceLink } from './link/link.ts'
import type { ContinueRound } from './link/link-context.ts'

export function createHttpDeps(callDeps: CallDeps): HttpDeps {
  const { settings } = callDeps
  const sessionStates = new SessionStates(settings, callDeps.ledger)
  const continueRound: ContinueRound = (round, peer, lastEventNumber) =>
    adoptRound(round, peer, { http: httpDeps, lastEventNumber })
  const link = settings.link && new InstanceLink(settings.link, callDeps, { sessionStates, continueRound })
  const httpDeps: HttpDeps = {
    callDeps,
    link,
    sessions: linkSessions(createSessions(settings, callDeps), link),
    sessionStates,
    finishedStreams: new FinishedStreams(callDeps),
  }
  return httpDeps
}

/** Sessions that several instances share: one that is ended or changed here is ended or changed at every instance. */
function linkSessions(sessions: Sessions, link: InstanceLink | undefined): Sessions {
  if (link === undefined) return sessions
  return {
    ...sessions,
    async open(id, caller) {
      const session = await sessions.open(id, caller)
      return session !== undefined && (await link.sessions.open(session, callerKeyOf(caller))) ? session : undefined
    },
    isLive: async (session, caller) =>
      (await sessions.isLive(session, caller)) && (await link.sessions.open(session, callerKeyOf(caller))),
    end(session, caller) {
      sessions.end(session, caller)
      // Ended sessions all have a record in the store, also those that this process cannot remember.
      return true
    },
  }
}
