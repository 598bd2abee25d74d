import type { Deps } from '../deps.ts'
import type { HttpDeps, InstanceLink } from '../http/http-deps.ts'
import { createInstanceBus } from './instance-bus.ts'
import type { LegacyLink } from '../options.ts'
import { createLinkStore } from './link-store.ts'
import { createLinkedCalls } from './linked-calls.ts'
import { createLinkedSessions } from './linked-sessions.ts'
import { createRemoteStreams } from './remote-streams.ts'

/** Joins this instance with the others. `http` is asked for when there is a request or a message. */
export function createLink(link: LegacyLink, deps: Deps, getHttpDeps: () => HttpDeps): InstanceLink {
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => void deps.schedule(resolve, ms))
  const store = createLinkStore(link.store, { ...deps.settings, sleep })
  const bus = createInstanceBus(link.bus, {
    // Every part is there before the first message comes.
    handlers: {
      answered: ({ session, id }) => calls.takeStoredAnswer(session, id),
      adopted: ({ id }) => calls.handOffCall(id),
      cancelled: ({ session, id }) => calls.cancelCall(session, id),
      resume: (message) => streams.writeStream(message),
      written: ({ id }) => streams.onWritten(id),
      left: ({ id }) => streams.onPeerLeft(id),
      session: ({ session }) => sessions.reload(session),
      listening: ({ session }) => getHttpDeps().sessionStates.find({ key: session })?.listeningStream?.end(),
    },
    async onGap() {
      streams.catchUp()
      await sessions.catchUp()
      await calls.catchUp()
    },
    deps,
  })
  const linkDeps = { store, bus, deps, getHttpDeps }
  const sessions = createLinkedSessions(linkDeps)
  const calls = createLinkedCalls(linkDeps)
  const streams = createRemoteStreams(linkDeps, calls)
  return {
    listen: () => bus.listen(),
    linkCall: (call) => calls.linkCall(call),
    takeAnswer: (response, peer) => calls.takeAnswer(response, peer),
    resume: streams.resume,
    cancelRequest: ({ key }, id) => bus.publish('cancelled', { session: key, id: JSON.stringify(id) }),
    openSession: sessions.open,
    changeSession: sessions.change,
    announceListening: ({ key }) => bus.publish('listening', { session: key }),
    drain: () => calls.drain(),
    close: () => bus.close(),
  }
}
