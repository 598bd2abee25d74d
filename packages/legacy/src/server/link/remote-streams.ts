import type { CallStream } from '../http/call-stream.ts'
import { rejectLost } from '../http/errors.ts'
import type { EventPlace } from '../http/event-id.ts'
import type { Link, SessionPeer } from '../http/peer.ts'
import { randomId } from '../random-id.ts'
import type { InstanceMessage } from './instance-bus.ts'
import type { LinkParts } from './link-parts.ts'
import type { LinkedCalls } from './linked-calls.ts'
import { readRelay, writeRelay } from './relay.ts'

/** The streams that a client reads at another instance than the one of the call. */
export interface RemoteStreams extends Pick<Link, 'resume'> {
  /** Writes a stream of this instance for the one that asks for it. */
  writeStream(message: InstanceMessage): Promise<void>
  onWritten(relay: string): void
  onLeft(relay: string): void
  /** Reads everything that may have been written. */
  catchUp(): void
}

const resumeRetryMs = 500
const resumeTries = 4

/** Starts with no stream. */
export function createRemoteStreams(parts: LinkParts, calls: LinkedCalls): RemoteStreams {
  const { store, bus, http } = parts
  const writers = new Map<string, { onLeft(): void }>()
  const readers = new Map<string, { onWritten(): void }>()

  /** Reads the stream from the instance that has it; false when none says so in time. */
  const relayFrom = async ({ stream, number }: EventPlace, { session, view }: SessionPeer): Promise<boolean> => {
    const relay = randomId()
    for (let tries = 0; tries < resumeTries; tries += 1) {
      const found = bus.expect('relaying', relay, resumeRetryMs)
      bus.publish('resume', { id: stream, session: session.key, number, relay })
      if (!(await found)) continue
      readers.set(relay, readRelay(relay, view.reply, { ...parts, onEnd: () => void readers.delete(relay) }))
      return true
    }
    return false
  }
  const writeEnd = async ({ stream, number }: EventPlace, { session, view }: SessionPeer): Promise<boolean> => {
    const end = await store.getEnd(stream)
    if (end?.session !== session.key) return false
    view.reply.open()
    if (end.number > number) view.reply.write(end.text)
    view.reply.end()
    return true
  }
  const resumeStored = async (place: EventPlace, peer: SessionPeer): Promise<boolean> => {
    const stored = await store.getCall(place.stream)
    if (stored === undefined) return rejectLost(place, peer.view)
    if (stored.session !== peer.session.key) return false
    // Its handler was running: nobody may run it again unasked.
    if (await store.isClaimed(stored.round)) {
      return rejectLost({ ...place, requestId: stored.waiting.request.id }, peer.view)
    }
    const stream = calls.adopt(stored, peer, place.number)
    stream?.resume(peer.view.reply, place.number)
    return stream !== undefined
  }

  return {
    async resume(place, peer) {
      // A call that ends while its instance is looked for has left its response meanwhile.
      if (await writeEnd(place, peer)) return true
      if (await relayFrom(place, peer)) return true
      return (await writeEnd(place, peer)) || (await resumeStored(place, peer))
    },
    async writeStream({ id, session, number, relay }) {
      const stream = http().states.find({ key: session })?.streams.get(id)
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
