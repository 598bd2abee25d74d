import { isLimitError, type Ledger } from '@x/core'
import type { HttpReply } from '@x/schema'
import type { Session } from '../session/session.ts'
import type { ParsedEventId, WrittenEvent } from './event-id.ts'

/**
 * Milliseconds for which the events of a finished stream are kept. A client that finds its connection broken reconnects
 * within this time.
 */
const keptMs = 15_000
/** Bytes that a kept stream needs beside the text of its events. */
const streamOverhead = 500

/** A stream whose response was written to a connection. */
export interface FinishedStream {
  readonly id: string
  readonly session: Session
  /** The key of the caller for quotas. */
  readonly callerKey: string
  readonly events: readonly WrittenEvent[]
}

/**
 * Streams whose response was written to a connection that may have broken before. The runtime reports a broken
 * connection late, so the response may be lost although the server wrote it.
 */
export interface FinishedStreams {
  /**
   * Keeps the events of a stream for some seconds. At the bound of `finished_bytes`, older streams are dropped.
   * A stream that is larger than the bound is not kept.
   */
  keep(stream: FinishedStream): void
  /**
   * Sends the events after the last one that the client received, and ends the response. Returns false if the stream is
   * unknown, or belongs to another session.
   */
  resume(lastEventId: ParsedEventId, session: Session, reply: HttpReply): boolean
  /** Drops all streams. */
  close(): void
}

interface KeptStream extends FinishedStream {
  drop(): void
}

/** Creates {@link FinishedStreams} without a stream. */
export function createFinishedStreams({
  ledger,
  schedule,
}: {
  readonly ledger: Ledger
  readonly schedule: (run: () => void, ms: number) => () => void
}): FinishedStreams {
  const streams = new Map<string, KeptStream>()
  /** The streams of each caller, the oldest first. */
  const streamsByCaller = new Map<string, Set<KeptStream>>()

  const add = (stream: FinishedStream, release: () => void): void => {
    const keptStream: KeptStream = {
      ...stream,
      drop() {
        cancelTimer()
        release()
        streams.delete(stream.id)
        callerStreams.delete(keptStream)
        if (callerStreams.size === 0) streamsByCaller.delete(stream.callerKey)
      },
    }
    const cancelTimer = schedule(keptStream.drop, keptMs)
    const callerStreams = streamsByCaller.get(stream.callerKey) ?? new Set()
    callerStreams.add(keptStream)
    streamsByCaller.set(stream.callerKey, callerStreams)
    streams.set(stream.id, keptStream)
  }
  /** Counts bytes of a caller. Drops older streams while a bound is reached. Returns undefined if that is not enough. */
  const takeBytes = (callerKey: string, byteCount: number): (() => void) | undefined => {
    for (;;) {
      try {
        return ledger.take('finished_bytes', callerKey, byteCount)
      } catch (error) {
        if (!isLimitError(error)) throw error
        const owner = error.scope === 'caller' ? callerKey : ledger.greediestCaller('finished_bytes')
        const [oldestStream] = streamsByCaller.get(owner ?? '') ?? []
        if (oldestStream === undefined) return undefined
        oldestStream.drop()
      }
    }
  }

  return {
    keep(stream) {
      const byteCount = stream.events.reduce((sum, { text }) => sum + text.length, streamOverhead)
      if (byteCount > ledger.boundOf('finished_bytes').perCaller) return
      const release = takeBytes(stream.callerKey, byteCount)
      if (release !== undefined) add(stream, release)
    },
    resume({ streamId, eventNumber }, session, reply) {
      const stream = streams.get(streamId)
      if (stream?.session.key !== session.key) return false
      reply.open()
      for (const { number, text } of stream.events) if (number > eventNumber) reply.write(text)
      reply.end()
      return true
    },
    close() {
      for (const { drop } of streams.values()) drop()
    },
  }
}
