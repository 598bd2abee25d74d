import type { Point } from '../../src/board/snapshot.ts'

const maxPoints = 120

/**
 * Appends new points to the history of two minutes, and replaces those of the same time. After a reconnection the first
 * snapshot has the whole history, and a restarted server starts a new one.
 */
export function mergePoints(history: readonly Point[], newPoints: readonly Point[]): readonly Point[] {
  const [first] = newPoints
  if (first === undefined) return history
  return [...history.filter(({ at }) => at < first.at), ...newPoints].slice(-maxPoints)
}
