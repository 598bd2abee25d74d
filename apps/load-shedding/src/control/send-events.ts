import type { ServerResponse } from 'node:http'
import type { Point, Snapshot } from '../board/snapshot.ts'

/** The source of snapshots. */
export interface SnapshotSource {
  snapshot(): Omit<Snapshot, 'points'>
  points(): readonly Point[]
}

const sendIntervalMs = 150

/**
 * Sends snapshots as server-sent events until the connection closes. A slow client misses snapshots, but no point of
 * the history.
 */
export function sendEvents(response: ServerResponse, source: SnapshotSource): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store, no-transform' })
  let last = -1
  const send = (): void => {
    if (response.writableNeedDrain) return
    const points = source.points().filter(({ at }) => at > last)
    last = points.at(-1)?.at ?? last
    const snapshot: Snapshot = { ...source.snapshot(), points }
    response.write(`data: ${JSON.stringify(snapshot)}\n\n`)
  }
  const timer = setInterval(send, sendIntervalMs)
  response.once('close', () => clearInterval(timer))
  send()
}
