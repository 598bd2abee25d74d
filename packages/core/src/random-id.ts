const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The number of bytes that a pool draws at once. */
const poolBytes = 3072

/** The longest request that a pool serves, in bytes. A longer one may be a secret key and is drawn separately. */
const maxPooledBytes = 22

/**
 * Creates a source of random bytes that draws for many requests at once. A draw of a few bytes costs almost as much as
 * a whole call.
 *
 * Each byte is used once: a repeated nonce would reveal both plaintexts and allow forgeries. A pool is replaced, never
 * overwritten, so that bytes in use do not change.
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
  // Six bits of each byte: 132 in all.
  for (const byte of drawBytes(22)) id += alphabet.charAt(byte & 63)
  return id
}
