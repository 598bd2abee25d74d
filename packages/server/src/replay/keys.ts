import { HandlerError } from './handler-error.ts'

/**
 * Refuses a key that is not 1 to 128 letters, digits and `_ - . : /`. The keys of questions go over the wire, where `~`
 * marks the second and every further time that one is asked.
 */
export function rejectKey(key: unknown, called: string): asserts key is string {
  if (typeof key === 'string' && /^[A-Za-z0-9_.:/-]{1,128}$/.test(key)) return
  const shown = typeof key === 'string' ? JSON.stringify(key.slice(0, 140)) : String(key)
  const rule = 'a key is 1 to 128 letters, digits and "_-.:/"; in a loop, put the item into it ("confirm/17")'
  throw new HandlerError('key', `${called} was given the key ${shown}: ${rule}`)
}

/**
 * Under which name a question of an explicit round goes over the wire where no key may be used twice: `r` and a number are in no
 * other key, since authors' keys have no `~`.
 */
export function explicitKey(key: string, round: number): string {
  return `${key}~r${round}`
}

/** Under which name a question goes over the wire: its key, and from the second time on how often it was asked. */
export function wireKey(key: string, times: number): string {
  return times === 1 ? key : `${key}~${times}`
}
