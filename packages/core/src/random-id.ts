const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The number of random bytes that a pool creates at once. */
const poolBytes = 3072

/**
 * The largest number of bytes that is taken from the pool. More bytes may be a secret key, and are created separately.
 */
const maxPooledBytes = 22

/**
 * Creates a source of random bytes that creates bytes for many requests at once. To create a few bytes takes almost as
 * long as a whole call.
 *
 * Each byte is used once, because a repeated nonce would reveal both plaintexts and allow forgeries. A used pool is
 * replaced and never overwritten, so that bytes already returned do not change.
 */
export function createRandomPool(draw: (byteCount: number) => Uint8Array): (byteCount: number) => Uint8Array {
  let pool: Uint8Array = new Uint8Array(0)
  let usedByteCount = 0
  return (byteCount) => {
    if (byteCount > maxPooledBytes) return draw(byteCount)
    if (usedByteCount + byteCount > pool.length) {
      pool = draw(poolBytes)
      usedByteCount = 0
    }
    usedByteCount += byteCount
    return pool.subarray(usedByteCount - byteCount, usedByteCount)
  }
}

const drawBytes = /* @__PURE__ */ createRandomPool((byteCount) => crypto.getRandomValues(new Uint8Array(byteCount)))

/** Returns a random id of 132 bits: 22 characters that need no escape in a URL or a header. */
export function randomId(): string {
  let id = ''
  // Each character uses six bits of a byte, 132 bits in all.
  for (const byte of drawBytes(22)) id += alphabet.charAt(byte & 63)
  return id
}
