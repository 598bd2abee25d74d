/** How many bytes a pool draws at once: nonces for 256 tokens. */
const poolBytes = 3072

/** The most that comes out of a pool, in bytes: a nonce. What is longer may be a secret, and is drawn for itself. */
const mostPooled = 16

/**
 * Random bytes, drawn for many tokens at once, since a draw costs a third of what sealing a small state does.
 *
 * Each byte is given out once: a nonce that came twice would give away what both tokens say, and the means to forge others. A pool is never written
 * again, only replaced, so that nothing changes under the bytes that were given.
 */
export function pooledRandom(draw: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0
  return (bytes) => {
    if (bytes > mostPooled) return draw(bytes)
    if (used + bytes > pool.length) {
      pool = draw(poolBytes)
      used = 0
    }
    used += bytes
    return pool.subarray(used - bytes, used)
  }
}
