import { randomId } from '@x/core'
import type { CallStream } from '../http/call-stream.ts'
import { rejectLostCall } from '../http/errors.ts'
import type { ParsedEventId } from '../http/event-id.ts'
import type { InstanceLink, SessionPeer } from '../http/http-deps.ts'
import type { InstanceMessage } from './instance-bus.ts'
import type { LinkDeps } from './link-deps.ts'
import type { LinkedCalls } from './linked-calls.ts'
import { readRelay, writeRelay } from './relay.ts'

/** The streams that a client reads at another instance than the one of the call. */
export interface RemoteStreams extends Pick<InstanceLink, 'resume'> {
  /** Writes a stream of this instance for the one that asks for it. */
  writeStream(message: InstanceMessage): Promise<void>
  onWritten(relay: string): void
  onPeerLeft(relay: string): void
  /** Reads everything that may have been written. */
  catchUp(): void
}

const resumeRetryDelayMs = 500
const maxResumeAttempts = 4

/** Starts with no stream. */
export function createRemoteStreams(linkDeps: LinkDeps, calls: LinkedCalls): RemoteStreams {
  const { store, bus, getHttpDeps } = linkDeps
  const writers = new Map<string, { onPeerLeft(): void }>()
  const readers = new Map<string, { onWritten(): void }>()

  /** Reads the stream from the instance that has it; false when none says so in time. */
  const startRelay = async (eventId: ParsedEventId, { session, view }: SessionPeer): Promise<boolean> => {
    const { streamId, eventNumber } = eventId
    const relayId = randomId()
    for (let tryCount = 0; tryCount < maxResumeAttempts; tryCount += 1) {
      const relayPromise = bus.waitForMessage('relaying', relayId, resumeRetryDelayMs)
      bus.publish('resume', { id: streamId, session: session.key, number: eventNumber, relay: relayId })
      if (!(await relayPromise)) continue
      readers.set(relayId, readRelay(relayId, view.reply, { ...linkDeps, onEnd: () => void readers.delete(relayId) }))
      return true
    }
    return false
  }
  const writeReply = async (eventId: ParsedEventId, { session, view }: SessionPeer): Promise<boolean> => {
    const storedResponse = await store.getResponse(eventId.streamId)
    if (storedResponse?.session !== session.key) return false
    view.reply.open()
    if (storedResponse.number > eventId.eventNumber) view.reply.write(storedResponse.text)
    view.reply.end()
    return true
  }
  /** Waits here for the answers of a call that waits; undefined for one that does not. */
  const adoptWaitingCall = async (eventId: ParsedEventId, peer: SessionPeer): Promise<boolean | undefined> => {
    const storedCall = await store.getCall(eventId.streamId)
    if (storedCall === undefined) return undefined
    if (storedCall.session !== peer.session.key) return false
    if (await store.isClaimed(storedCall.round)) return undefined
    const stream = calls.resumeStoredCall(storedCall, peer, eventId.eventNumber)
    stream?.resume(peer.view.reply, eventId.eventNumber)
    return stream !== undefined
  }
  // A call that ends while its instance is looked for has left its response meanwhile.
  const relayOrReply = async (eventId: ParsedEventId, peer: SessionPeer): Promise<boolean> =>
    (await writeReply(eventId, peer)) || (await startRelay(eventId, peer)) || (await writeReply(eventId, peer))

  return {
    async resume(eventId, peer) {
      if (await relayOrReply(eventId, peer)) return true
      const isAdopted = await adoptWaitingCall(eventId, peer)
      if (isAdopted !== undefined) return isAdopted
      // Its handler was running: nobody may run it again unasked. An instance that is only slow gets a second time to
      // say so.
      return (await relayOrReply(eventId, peer)) || rejectLostCall(eventId, peer.view)
    },
    async writeStream({ id, session, number, relay }) {
      const stream = getHttpDeps().sessionStates.find({ key: session })?.streams.get(id)
      if (stream === undefined) return
      if (!writers.has(relay)) {
        const reply = await writeRelay(relay, linkDeps, () => writers.delete(relay))
        if (reply === undefined) return
        writers.set(relay, reply)
        // An id leads to the entry that `serveRequests` registered.
        ;(stream as CallStream).resume(reply, number)
      }
      bus.publish('relaying', { id: relay })
    },
    onWritten: (relay) => readers.get(relay)?.onWritten(),
    onPeerLeft: (relay) => writers.get(relay)?.onPeerLeft(),
    catchUp() {
      for (const { onWritten } of readers.values()) onWritten()
    },
  }
}
