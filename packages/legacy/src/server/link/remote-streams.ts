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
  onLeft(relay: string): void
  /** Reads everything that may have been written. */
  catchUp(): void
}

const resumeRetryDelayMs = 500
const maxResumeAttempts = 4

/** Starts with no stream. */
export function createRemoteStreams(parts: LinkDeps, calls: LinkedCalls): RemoteStreams {
  const { store, bus, http } = parts
  const writers = new Map<string, { onLeft(): void }>()
  const readers = new Map<string, { onWritten(): void }>()

  /** Reads the stream from the instance that has it; false when none says so in time. */
  const relayFrom = async ({ stream, number }: ParsedEventId, { session, view }: SessionPeer): Promise<boolean> => {
    const relay = randomId()
    for (let tries = 0; tries < maxResumeAttempts; tries += 1) {
      const found = bus.waitFor('relaying', relay, resumeRetryDelayMs)
      bus.publish('resume', { id: stream, session: session.key, number, relay })
      if (!(await found)) continue
      readers.set(relay, readRelay(relay, view.reply, { ...parts, onEnd: () => void readers.delete(relay) }))
      return true
    }
    return false
  }
  const writeEnd = async ({ stream, number }: ParsedEventId, { session, view }: SessionPeer): Promise<boolean> => {
    const end = await store.getResponse(stream)
    if (end?.session !== session.key) return false
    view.reply.open()
    if (end.number > number) view.reply.write(end.text)
    view.reply.end()
    return true
  }
  /** Waits here for the answers of a call that waits; undefined for one that does not. */
  const adoptWaiting = async (place: ParsedEventId, peer: SessionPeer): Promise<boolean | undefined> => {
    const stored = await store.getCall(place.stream)
    if (stored === undefined) return undefined
    if (stored.session !== peer.session.key) return false
    if (await store.isClaimed(stored.round)) return undefined
    const stream = calls.resumeStored(stored, peer, place.number)
    stream?.resume(peer.view.reply, place.number)
    return stream !== undefined
  }
  // A call that ends while its instance is looked for has left its response meanwhile.
  const find = async (place: ParsedEventId, peer: SessionPeer): Promise<boolean> =>
    (await writeEnd(place, peer)) || (await relayFrom(place, peer)) || (await writeEnd(place, peer))

  return {
    async resume(place, peer) {
      if (await find(place, peer)) return true
      const adopted = await adoptWaiting(place, peer)
      if (adopted !== undefined) return adopted
      // Its handler was running: nobody may run it again unasked. An instance that is only slow gets a second time to
      // say so.
      return (await find(place, peer)) || rejectLostCall(place, peer.view)
    },
    async writeStream({ id, session, number, relay }) {
      const stream = http().sessionStates.find({ key: session })?.streams.get(id)
      if (stream === undefined) return
      if (!writers.has(relay)) {
        const reply = await writeRelay(relay, parts, () => writers.delete(relay))
        if (reply === undefined) return
        writers.set(relay, reply)
        // An id leads to the entry that `serveRequests` registered.
        ;(stream as CallStream).resume(reply, number)
      }
      bus.publish('relaying', { id: relay })
    },
    onWritten: (relay) => readers.get(relay)?.onWritten(),
    onLeft: (relay) => writers.get(relay)?.onLeft(),
    catchUp() {
      for (const { onWritten } of readers.values()) onWritten()
    },
  }
}
