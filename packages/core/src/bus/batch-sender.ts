/** May wait to be sent. */
export const maxWaitingCharacters = 16 * 1024 * 1024

/** A single text that is longer makes a batch of its own. */
export const maxBatchCharacters = 256 * 1024

interface WaitingText {
  readonly text: string
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Sends one batch after the other, in the order of arrival. What arrives while one is being sent makes the next, so a
 * burst of changes keeps its order and uses only one connection of a pool.
 *
 * The returned function resolves when its text has been sent, and rejects when sending failed, or with the error of
 * `createOverflowError` when more than {@link maxWaitingCharacters} characters wait. A text that still waits when the
 * signal aborts is not sent.
 */
export function createBatchSender(
  sendAll: (texts: readonly string[]) => Promise<unknown>,
  createOverflowError: () => Error,
): (text: string, signal: AbortSignal) => Promise<void> {
  // Bounded by `maxWaitingCharacters`.
  const waitingTexts = new Set<WaitingText>()
  let waitingCharacterCount = 0
  let isSending = false

  const removeEntry = (entry: WaitingText): void => {
    if (waitingTexts.delete(entry)) waitingCharacterCount -= entry.text.length
  }
  const takeBatch = (): WaitingText[] => {
    const batchEntries: WaitingText[] = []
    let remainingCharacters = maxBatchCharacters
    for (const entry of waitingTexts) {
      remainingCharacters -= entry.text.length
      if (remainingCharacters < 0 && batchEntries.length > 0) break
      batchEntries.push(entry)
    }
    for (const entry of batchEntries) removeEntry(entry)
    return batchEntries
  }
  const sendWaitingTexts = async (): Promise<void> => {
    isSending = true
    while (waitingTexts.size > 0) {
      const batchEntries = takeBatch()
      try {
        await sendAll(batchEntries.map(({ text }) => text))
        for (const { resolve } of batchEntries) resolve()
      } catch (error) {
        for (const { reject } of batchEntries) reject(error)
      }
    }
    isSending = false
  }

  return (text, signal) => {
    if (waitingCharacterCount + text.length > maxWaitingCharacters) return Promise.reject(createOverflowError())
    return new Promise((resolve, reject) => {
      const entry: WaitingText = { text, resolve, reject }
      waitingTexts.add(entry)
      waitingCharacterCount += text.length
      signal.addEventListener('abort', () => removeEntry(entry))
      if (!isSending) void sendWaitingTexts()
    })
  }
}
