import { sha256HexSync } from '@x/core'

/**
 * Returns the digest of a task's id that logs, events and spans contain. Whoever has the id itself can read the task and
 * answer its questions, at a server whose callers have no principals. Undefined on platforms without synchronous digests.
 */
export function digestTaskId(id: string): string | undefined {
  return sha256HexSync(id)?.slice(0, digestLength)
}

/** As many hexadecimal digits tell all tasks of a store apart. */
const digestLength = 16
