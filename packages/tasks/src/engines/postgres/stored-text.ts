import { createHash } from 'node:crypto'

/**
 * A text as PostgreSQL can hold it: it has neither the zero character nor half a surrogate pair. Different texts stay
 * different, so that an id or an owner is never taken for another.
 */
export function toStoredText(text: string): string {
  return /^"|\0|\p{Surrogate}/u.test(text) ? JSON.stringify(text) : text
}

/** The text that was stored. */
export function fromStoredText(stored: string): string {
  return stored.startsWith('"') ? String(JSON.parse(stored)) : stored
}

/** A name of the same length for every key, because an index takes no long ones. */
export function hashEntryName(key: unknown): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('base64url')
}
