/**
 * Returns the options of a call with an idempotency key, the same for every request of the call: 128 random bits, as Base64url. What
 * the caller gave stays.
 */
export function withIdempotencyKey<T extends { readonly idempotencyKey?: string | undefined }>(options: T): T {
  if (options.idempotencyKey !== undefined) return options
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const text = btoa(String.fromCharCode(...bytes))
  return { ...options, idempotencyKey: text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') }
}
