const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** The number of bytes that a pool draws at once. */
const poolBytes = 3072

/** The longest request that a pool serves, in bytes. A longer one may be a secret key and is drawn separately. */
const maxPooledBytes = 22

/**
 * Creates a source of random bytes that draws for many requests at once: a draw of a few bytes costs as much as most of
 * a call.
 *
 * Each byte is used once: a repeated nonce would reveal both plaintexts and allow forgeries. A pool is replaced, never
 * overwritten, so that bytes in use do not change.
 */
export function createRandomPool(draw: (bytes: number) => Uint8Array): (bytes: number) => Uint8Array {
  let pool: Uint8Array = new Uint8Array(0)
  let used = 0
  return (bytes) => {
    if (bytes > maxPooledBytes) return draw(bytes)
    if (used + bytes > pool.length) {
      pool = draw(poolBytes)
      used = 0
    }
    used += bytes
    return pool.subarray(used - bytes, used)
  }
}

const drawBytes = /* @__PURE__ */ createRandomPool((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))

/** Returns a random id of 132 bits: 22 characters that need no escape in a URL or a header. */
export function randomId(): string {
  let id = ''
  // Six bits of each byte: 132 in all.
  for (const byte of drawBytes(22)) id += alphabet.charAt(byte & 63)
  return id
}
