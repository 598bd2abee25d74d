import { errorCodes, McpError } from '@x/schema'

/** A skill counts as one resource more than it has files. With few files per skill, a page has about 100 kB. */
const maxPageResources = 1000

/**
 * A cursor is the URI of the last entry before the page, so it stays valid at every instance and after a change of the
 * files.
 *
 * @throws McpError -32602 for a cursor that no page had.
 */
export function paginateEntries<Entry extends { readonly uri: string }>(
  sortedEntries: readonly Entry[],
  cursor: unknown,
  countResources: (entry: Entry) => number = () => 1,
): { readonly entries: readonly Entry[]; readonly nextCursor?: string | undefined } {
  const start = cursor === undefined ? 0 : findStart(sortedEntries, cursor)
  let resourceCount = 0
  let end = start
  for (const entry of sortedEntries.slice(start)) {
    resourceCount += countResources(entry)
    // A page has at least one entry, however many files that has.
    if (resourceCount > maxPageResources && end > start) break
    end += 1
  }
  const entries = sortedEntries.slice(start, end)
  return end < sortedEntries.length ? { entries, nextCursor: entries.at(-1)?.uri } : { entries }
}

function findStart(sortedEntries: readonly { readonly uri: string }[], cursor: unknown): number {
  if (typeof cursor !== 'string' || !cursor.startsWith('skill://')) {
    throw new McpError(errorCodes.invalidParams, 'Invalid params: params.cursor is not a cursor of this list')
  }
  const start = sortedEntries.findIndex(({ uri }) => uri > cursor)
  return start === -1 ? sortedEntries.length : start
}
