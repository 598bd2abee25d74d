import type { CountChunk } from './prime-tool.ts'
import { countChunk } from './tally.ts'

/** The numbers of a paced chunk: counting them takes next to no time. */
export const pacedNumbers = 500

/** Reports of the time come after so many chunks. */
const chunksPerReport = 10

/** Chunks that were counted, and the time for which the event loop was busy with them and all around them. */
export interface PacedWork {
  readonly chunks: number
  readonly busyMs: number
}

/**
 * Makes a count whose chunks take a given time on any machine: after a few numbers the process stands still, with its
 * event loop, as if it computed. `report` is given what was done since the report before.
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
