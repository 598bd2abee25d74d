const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

const poolBytes = 3072

/** More bytes may be a secret key, and are drawn separately. */
const maxPooledBytes = 22

/**
 * Draws random bytes for many requests at once: drawing a few takes almost as long as a whole call.
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

/** 132 random bits: 22 characters that need no escape in a URL or a header. */
export function randomId(): string {
  let id = ''
  // Six bits of a byte for each character.
  for (const byte of drawBytes(22)) id += alphabet.charAt(byte & 63)
  return id
}
