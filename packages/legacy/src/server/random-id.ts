const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** 22 visible characters with 128 bits of chance. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(22))
  // Six bits of each byte: 132 in all.
  return Array.from(bytes, (byte) => alphabet[byte & 63]).join('')
}
