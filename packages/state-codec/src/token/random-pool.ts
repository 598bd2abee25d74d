/** The number of bytes that a pool draws at once: nonces for 256 tokens. */
const poolBytes = 3072

/**
 * The longest request that the pool serves, in bytes: a nonce. A longer one may be a secret and is drawn separately.
 */
const maxPooledBytes = 16

/**
 * Creates a source of random bytes that draws for many tokens at once; one draw costs a third of sealing a small state.
 *
 * Each byte is used once: a repeated nonce would reveal both plaintexts and allow forgeries. A pool is replaced, never
 * overwritten, so that bytes in use do not change.
 */
export function createRandomPool(randomBytes: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0
  return (bytes) => {
    if (bytes > maxPooledBytes) return randomBytes(bytes)
    if (used + bytes > pool.length) {
      pool = randomBytes(poolBytes)
      used = 0
    }
    used += bytes
    return pool.subarray(used - bytes, used)
  }
}
