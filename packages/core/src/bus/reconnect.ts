/** The shortest pause before a connection is opened again, in milliseconds. */
export const minReconnectDelayMs = 250

/** The longest one, in milliseconds. */
export const maxReconnectDelayMs = 30_000

/** The lifetime of a connection that does not count as a failure, in milliseconds. */
export const healthyAfterMs = maxReconnectDelayMs

/** Returns the milliseconds to wait after a number of consecutive failures: longer each time, with jitter. */
export function computeReconnectDelayMs(failures: number, random: () => number): number {
  const currentMaxDelayMs = Math.min(maxReconnectDelayMs, minReconnectDelayMs * 2 ** (failures + 1))
  return minReconnectDelayMs + random() * (currentMaxDelayMs - minReconnectDelayMs)
}
