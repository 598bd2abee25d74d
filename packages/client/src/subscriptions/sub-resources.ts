/** Resources by their URIs, and the lengths of these, the longest first. */
export interface Subscribers {
  readonly uris: ReadonlySet<string>
  readonly lengths: readonly number[]
}

/** Makes {@link Subscribers} of URIs. */
export function createSubscribers(uris: readonly string[]): Subscribers {
  const lengths = new Set(uris.map(({ length }) => length))
  // An empty URI is a prefix of all others, and contains none.
  lengths.delete(0)
  return { uris: new Set(uris), lengths: [...lengths].sort((a, b) => b - a) }
}

const ends: ReadonlySet<string | undefined> = new Set(['/', '?', '#'])

/**
 * Returns the nearest resource that contains another one, by its path: `file:///a` and `file:///a/` contain
 * `file:///a/b`. A server may report a change of a part of a subscribed resource (schema,
 * ResourceUpdatedNotificationParams).
 */
export function subscriberOf(uri: string, { uris, lengths }: Subscribers): string | undefined {
  // Only where a containing URI can end, because a server may send a text of millions of slashes.
  for (const length of lengths) {
    if (length >= uri.length || (!ends.has(uri[length]) && !ends.has(uri[length - 1]))) continue
    const start = uri.slice(0, length)
    if (uris.has(start)) return start
  }
  return undefined
}
