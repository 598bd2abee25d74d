import { type ReadonlySignal, signal } from '@preact/signals'
import type { Point, Snapshot } from '../../../src/board/snapshot.ts'
import type { Command } from '../../../src/control/command.ts'

/** The state of the page, and its commands. */
export interface Session {
  /** The current snapshot; undefined before the first one. */
  readonly snapshot: ReadonlySignal<Snapshot | undefined>
  /** The points of the last two minutes, one per second. */
  readonly points: ReadonlySignal<readonly Point[]>
  /** `true` while snapshots arrive. */
  readonly isLive: ReadonlySignal<boolean>
  /** The text for screen readers: the last command, or its failure. */
  readonly announcement: ReadonlySignal<string>
  /** Sends a command. Announces its description, or that it failed. */
  sendCommand(command: Command, description: string): Promise<void>
}

/** The handlers of the snapshot stream. */
export interface SnapshotListener {
  /** Receives a snapshot as JSON. */
  onSnapshot(text: string): void
  /** Called when the connection is interrupted. */
  onInterrupt(): void
}

/** Subscribes to the stream of snapshots. After a reconnection, the first snapshot has the whole history. */
export type Subscribe = (listener: SnapshotListener) => void

/** Sends a command to the server. Resolves to true if the server ran it. */
export type SendCommand = (command: Command) => Promise<boolean>

const maxPoints = 120

/** Opens the page's session. */
export function openSession(subscribe: Subscribe, send: SendCommand): Session {
  const snapshot = signal<Snapshot | undefined>(undefined)
  const points = signal<readonly Point[]>([])
  const isLive = signal(false)
  const announcement = signal('')
  subscribe({
    onSnapshot(text) {
      // The server of this page sends this type.
      const next = JSON.parse(text) as Snapshot
      snapshot.value = next
      isLive.value = true
      if (next.points.length > 0) points.value = mergePoints(points.value, next.points)
    },
    onInterrupt() {
      isLive.value = false
    },
  })
  const sendCommand = async (command: Command, description: string): Promise<void> => {
    const isDone = await send(command).catch(() => false)
    announcement.value = isDone ? description : 'The command failed. Check that the server is running.'
  }
  return { snapshot, points, isLive, announcement, sendCommand }
}

/** Appends new points to the history, and replaces those of the same time. A restarted server starts a new history. */
function mergePoints(history: readonly Point[], newPoints: readonly Point[]): readonly Point[] {
  const first = newPoints[0]?.at ?? 0
  return [...history.filter(({ at }) => at < first), ...newPoints].slice(-maxPoints)
}
