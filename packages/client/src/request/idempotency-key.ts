/**
 * Returns the options of a call with an idempotency key, the same for every request of the call: 128 random bits, as Base64url. What
 * the caller gave stays.
 */
export function withKey<T extends { readonly idempotencyKey?: string | undefined }>(how: T): T {
  if (how.idempotencyKey !== undefined) return how
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const text = btoa(String.fromCharCode(...bytes))
  return { ...how, idempotencyKey: text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') }
}
