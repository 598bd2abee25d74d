import type { CountChunk } from './prime-tool.ts'
import { countChunk } from './tally.ts'

/** The numbers of a paced chunk. Counting them takes less than a millisecond. */
export const pacedNumbers = 500

/** The number of chunks in a report. */
const chunksPerReport = 10

/** A number of counted chunks, and the time for which the event loop was busy meanwhile, in milliseconds. */
export interface PacedWork {
  readonly chunks: number
  readonly busyMs: number
}

/**
 * Creates a count whose chunks take a given time on any machine. After a few numbers it blocks the event loop for the
 * rest of that time. `report` receives the work since the previous report.
 */
export function createPacedCount(chunkMs: number, report: (work: PacedWork) => void): CountChunk {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  let chunks = 0
  let last = performance.eventLoopUtilization()
  return (tally, limit) => {
    const start = performance.now()
    const counted = countChunk(tally, limit, pacedNumbers)
    Atomics.wait(cell, 0, 0, Math.max(0, chunkMs - (performance.now() - start)))
    chunks++
    if (chunks === chunksPerReport) {
      const now = performance.eventLoopUtilization()
      report({ chunks, busyMs: now.active - last.active })
      last = now
      chunks = 0
    }
    return counted
  }
}
