/**
 * Does something with every item, so many at a time: a lane takes the next when it is done with one, in a later turn of
 * the event loop, as it would when its answer came over a wire. Without that what is done in memory would let nothing
 * else run.
 */
export async function inLanes<T>(
  lanes: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of rest) {
        await work(item)
        await new Promise(setImmediate)
      }
    }),
  )
}
