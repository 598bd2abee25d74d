/** The number of ended calls whose chunks are retained, because messages of instances may arrive after the response. */
const maxEndedCalls = 200

/** Counts the processed chunks of work, and those that the same call had processed before. */
export class ChunkCounter {
  readonly #chunksByCall = new Map<string, Set<number>>()
  readonly #endedCalls: string[] = []
  chunks = 0
  repeated = 0

  /** Adds a chunk, identified by its first number. */
  add(call: string, from: number): void {
    const known = this.#chunksByCall.get(call) ?? new Set()
    this.#chunksByCall.set(call, known)
    this.chunks++
    if (known.has(from)) this.repeated++
    known.add(from)
  }

  /** Marks a call as ended. Its chunks are deleted after 200 more ended calls. */
  remove(call: string): void {
    this.#endedCalls.push(call)
    if (this.#endedCalls.length > maxEndedCalls) this.#chunksByCall.delete(this.#endedCalls.shift() ?? '')
  }
}
