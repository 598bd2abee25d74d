/** Counts the processed chunks of work, and those that the same call had processed before. */
export interface ChunkCounter {
  /** Adds a chunk, identified by its first number. */
  add(call: string, from: number): void
  /** Marks a call as ended. Its chunks are deleted after 200 more ended calls. */
  remove(call: string): void
  readonly chunks: number
  readonly repeated: number
}

/** The number of ended calls whose chunks are retained, because messages of instances may arrive after the response. */
const maxEndedCalls = 200

/** Creates a counter at 0. */
export function createChunkCounter(): ChunkCounter {
  const chunksByCall = new Map<string, Set<number>>()
  const endedCalls: string[] = []
  const counts = { chunks: 0, repeated: 0 }
  return {
    add(call, from) {
      const known = chunksByCall.get(call) ?? new Set()
      chunksByCall.set(call, known)
      counts.chunks++
      if (known.has(from)) counts.repeated++
      known.add(from)
    },
    remove(call) {
      endedCalls.push(call)
      if (endedCalls.length > maxEndedCalls) chunksByCall.delete(endedCalls.shift() ?? '')
    },
    get chunks() {
      return counts.chunks
    },
    get repeated() {
      return counts.repeated
    },
  }
}
