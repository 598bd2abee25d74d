/** Resources by their URIs, and which lengths those have, the longest first. */
export interface Holders {
  readonly uris: ReadonlySet<string>
  readonly lengths: readonly number[]
}

/** Makes {@link Holders} of URIs. */
export function holders(uris: readonly string[]): Holders {
  const lengths = new Set(uris.map(({ length }) => length))
  // An empty text is the start of all, and holds none.
  lengths.delete(0)
  return { uris: new Set(uris), lengths: [...lengths].sort((a, b) => b - a) }
}

const ends: ReadonlySet<string | undefined> = new Set(['/', '?', '#'])

/**
 * The nearest resource that another one is a part of, by its path: `file:///a` and `file:///a/` hold `file:///a/b`. A server may tell that a part
 * of what a client listens to has changed (schema, ResourceUpdatedNotificationParams).
 */
export function holderOf(uri: string, { uris, lengths }: Holders): string | undefined {
  // Only where a holder can end, because a server may send a text of millions of slashes.
  for (const length of lengths) {
    if (length >= uri.length || (!ends.has(uri[length]) && !ends.has(uri[length - 1]))) continue
    const start = uri.slice(0, length)
    if (uris.has(start)) return start
  }
  return undefined
}
