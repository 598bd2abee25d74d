/** The characters that may wait to be sent. */
export const maxWaiting = 16 * 1024 * 1024

/** The characters that are sent at once, unless one text alone is longer. */
export const maxBatch = 256 * 1024

interface Waiting {
  readonly text: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Texts that are sent in the order in which they came. */
export interface Batches {
  /**
   * Resolves when the text has been sent, and rejects when that failed. A text that waits when the signal aborts is not
   * sent any more.
   */
  send(text: string, signal: AbortSignal): Promise<void>
}

/**
 * Sends texts one batch after the other; what comes while one is under way makes the next. So a burst of changes keeps
 * its order, and takes one connection of a pool and not all of them.
 *
 * `send` throws what `overflow` makes when more than {@link maxWaiting} characters wait.
 */
export function createBatches(sendAll: (texts: readonly string[]) => Promise<unknown>, overflow: () => Error): Batches {
  const waiting = new Set<Waiting>()
  let characters = 0
  let isSending = false

  const take = (entry: Waiting): void => {
    if (waiting.delete(entry)) characters -= entry.text.length
  }
  const takeBatch = (): Waiting[] => {
    const batch: Waiting[] = []
    let room = maxBatch
    for (const entry of waiting) {
      room -= entry.text.length
      if (room < 0 && batch.length > 0) break
      batch.push(entry)
    }
    for (const entry of batch) take(entry)
    return batch
  }
  const drain = async (): Promise<void> => {
    isSending = true
    while (waiting.size > 0) {
      const batch = takeBatch()
      try {
        await sendAll(batch.map(({ text }) => text))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isSending = false
  }

  return {
    send(text, signal) {
      if (characters + text.length > maxWaiting) return Promise.reject(overflow())
      return new Promise((resolve, reject) => {
        const entry: Waiting = { text, resolve, reject }
        waiting.add(entry)
        characters += text.length
        signal.addEventListener('abort', () => take(entry))
        if (!isSending) void drain()
      })
    },
  }
}
