/**
 * Runs an operation for every item, with a fixed number of clients. A client takes its next item in a later turn of the
 * event loop, as if the response arrived over a network. Without that, operations in memory would block all other work.
 */
export async function runConcurrently<T>(
  clients: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items.values()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (const item of remaining) {
        await work(item)
        await new Promise(setImmediate)
      }
    }),
  )
}
