import { isLimitError, type Ledger, type Schedule } from '@x/core'
import type { HttpReply } from '@x/exchange'
import type { Session } from '../session/session.ts'
import type { ParsedEventId, WrittenEvent } from './event-id.ts'

/**
 * Milliseconds for which a finished stream's events are kept. A client that finds its connection broken reconnects
 * within this time.
 */
const keptMs = 15_000
/** Bytes that a kept stream needs beside the text of its events. */
const streamOverhead = 500

/** A stream whose response was written to a connection. */
export interface FinishedStream {
  readonly id: string
  readonly session: Session
  /** Quotas count the caller under this key. */
  readonly callerKey: string
  readonly events: readonly WrittenEvent[]
  drop(): void
}

/**
 * Streams whose response was written to a connection that may have broken before. The runtime reports that late, so the
 * response may be lost although the server wrote it.
 */
export class FinishedStreams {
  readonly #ledger: Ledger
  readonly #schedule: Schedule
  readonly #index = createStreamIndex()

  constructor({ ledger, schedule }: { readonly ledger: Ledger; readonly schedule: Schedule }) {
    this.#ledger = ledger
    this.#schedule = schedule
  }

  /**
   * Keeps a stream's events for some seconds. At the bound of `finished_bytes`, older streams are dropped; a stream
   * that is larger than the bound is not kept.
   */
  keep(stream: Omit<FinishedStream, 'drop'>): void {
    const byteCount = stream.events.reduce((sum, { text }) => sum + text.length, streamOverhead)
    if (byteCount > this.#ledger.boundOf('finished_bytes').perCaller) return
    const release = this.#takeBytes(stream.callerKey, byteCount)
    if (release !== undefined) this.#add(stream, release)
  }

  /**
   * Sends the events after the last one that the client received, and ends the response. False if the stream is
   * unknown, or belongs to another session.
   */
  resume({ streamId, eventNumber }: ParsedEventId, session: Session, reply: HttpReply): boolean {
    const stream = this.#index.find(streamId)
    if (stream?.session.key !== session.key) return false
    reply.open()
    for (const { number, text } of stream.events) if (number > eventNumber) reply.write(text)
    reply.end()
    return true
  }

  /** Drops a session's streams, because it was ended. */
  dropSession({ key }: Pick<Session, 'key'>): void {
    for (const { drop } of this.#index.ofSession(key)) drop()
  }

  close(): void {
    for (const { drop } of this.#index.all()) drop()
  }

  #add(stream: Omit<FinishedStream, 'drop'>, release: () => void): void {
    const keptStream: FinishedStream = {
      ...stream,
      drop: () => {
        cancelTimer()
        release()
        this.#index.remove(keptStream)
      },
    }
    const cancelTimer = this.#schedule(keptStream.drop, keptMs)
    this.#index.add(keptStream)
  }

  /** Counts bytes of a caller, and drops older streams while a bound is reached. Undefined if that is not enough. */
  #takeBytes(callerKey: string, byteCount: number): (() => void) | undefined {
    for (;;) {
      try {
        return this.#ledger.take('finished_bytes', callerKey, byteCount)
      } catch (error) {
        if (!isLimitError(error)) throw error
        const owner = error.scope === 'caller' ? callerKey : this.#ledger.greediestCaller('finished_bytes')
        const [oldestStream] = this.#index.ofCaller(owner ?? '')
        if (oldestStream === undefined) return undefined
        oldestStream.drop()
      }
    }
  }
}

function createStreamIndex() {
  const streams = new Map<string, FinishedStream>()
  const streamsByCaller = new Map<string, Set<FinishedStream>>()
  const streamsBySession = new Map<string, Set<FinishedStream>>()
  return {
    add(stream: FinishedStream): void {
      streams.set(stream.id, stream)
      addToGroup(streamsByCaller, stream.callerKey, stream)
      addToGroup(streamsBySession, stream.session.key, stream)
    },
    remove(stream: FinishedStream): void {
      streams.delete(stream.id)
      removeFromGroup(streamsByCaller, stream.callerKey, stream)
      removeFromGroup(streamsBySession, stream.session.key, stream)
    },
    find: (id: string) => streams.get(id),
    ofCaller: (key: string): Iterable<FinishedStream> => streamsByCaller.get(key) ?? [],
    ofSession: (key: string): Iterable<FinishedStream> => streamsBySession.get(key) ?? [],
    all: (): Iterable<FinishedStream> => streams.values(),
  }
}

function addToGroup(groups: Map<string, Set<FinishedStream>>, key: string, stream: FinishedStream): void {
  const group = groups.get(key) ?? new Set()
  groups.set(key, group.add(stream))
}

function removeFromGroup(groups: Map<string, Set<FinishedStream>>, key: string, stream: FinishedStream): void {
  const group = groups.get(key)
  group?.delete(stream)
  if (group?.size === 0) groups.delete(key)
}
