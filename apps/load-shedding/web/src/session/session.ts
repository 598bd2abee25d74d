import { type ReadonlySignal, signal } from '@preact/signals'
import type { Point, Snapshot } from '../../../src/board/snapshot.ts'
import type { Command } from '../../../src/control/command.ts'

/** The state of the page, and its commands. */
export interface Session {
  /** Undefined until the first moment came. */
  readonly snapshot: ReadonlySignal<Snapshot | undefined>
  /** The last two minutes, by seconds. */
  readonly points: ReadonlySignal<readonly Point[]>
  /** `true` while snapshots arrive. */
  readonly isLive: ReadonlySignal<boolean>
  /** The last command, for people who do not see its effect, or the reason for its failure. */
  readonly announcement: ReadonlySignal<string>
  /** Asks for something, and says so in words. */
  sendCommand(command: Command, description: string): Promise<void>
}

/** The handlers of the snapshot stream. */
export interface SnapshotListener {
  /** A moment, as JSON. */
  onSnapshot(text: string): void
  onInterrupt(): void
}

/** Listens to the stream of moments. After an interruption it opens again, and sends the whole history. */
export type Subscribe = (listener: SnapshotListener) => void

/** Sends a command; whether it was done. */
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
      // It comes from the server that this page comes from, which is compiled from the same type.
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
    announcement.value = isDone ? description : 'That could not be done. Is the server still running?'
  }
  return { snapshot, points, isLive, announcement, sendCommand }
}

/** The history with what is new in it; a server that has begun again begins it again. */
function mergePoints(known: readonly Point[], more: readonly Point[]): readonly Point[] {
  const first = more[0]?.at ?? 0
  return [...known.filter(({ at }) => at < first), ...more].slice(-maxPoints)
}
