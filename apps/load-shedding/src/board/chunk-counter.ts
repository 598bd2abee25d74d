/** The processed chunks of each call, so that repeated work is detected. */
export interface ChunkCounter {
  /** Notes a chunk by the number that it begins with. */
  add(call: string, from: number): void
  /** The call is over: nothing is kept of it after a while. */
  remove(call: string): void
  readonly chunks: number
  readonly repeated: number
}

/** Messages of an instance may come after the answer of the call that they are about. */
const maxEndedCalls = 200

/** Makes an empty counter. */
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
