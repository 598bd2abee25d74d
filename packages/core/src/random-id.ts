const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Returns a random id of 132 bits: 22 characters that need no escape in a URL or a header. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(22))
  // Six bits of each byte: 132 in all.
  return Array.from(bytes, (byte) => alphabet[byte & 63]).join('')
}
