import { sha256HexSync } from '@x/core'

/**
 * Stands for a task's id in logs, events and spans. Where callers have no principals, the id itself is enough to read
 * the task and answer its questions. Undefined on platforms without synchronous digests.
 */
export function digestTaskId(id: string): string | undefined {
  return sha256HexSync(id)?.slice(0, digestLength)
}

/** So many hexadecimal digits distinguish all tasks of a store. */
const digestLength = 16
