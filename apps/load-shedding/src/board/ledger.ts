/** The processed chunks of each call, so that repeated work is detected. */
export interface Ledger {
  /** Notes a chunk by the number that it begins with. */
  note(call: string, from: number): void
  /** The call is over: nothing is kept of it after a while. */
  forget(call: string): void
  readonly chunks: number
  readonly repeated: number
}

/** Messages of an instance may come after the answer of the call that they are about. */
const kept = 200

/** Makes an empty ledger. */
export function createLedger(): Ledger {
  const done = new Map<string, Set<number>>()
  const over: string[] = []
  const counts = { chunks: 0, repeated: 0 }
  return {
    note(call, from) {
      const known = done.get(call) ?? new Set()
      done.set(call, known)
      counts.chunks++
      if (known.has(from)) counts.repeated++
      known.add(from)
    },
    forget(call) {
      over.push(call)
      if (over.length > kept) done.delete(over.shift() ?? '')
    },
    get chunks() {
      return counts.chunks
    },
    get repeated() {
      return counts.repeated
    },
  }
}
