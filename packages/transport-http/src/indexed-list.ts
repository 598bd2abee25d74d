export interface IndexedEntry {
  /** Where the entry is in its list. Only this module's functions write it. */
  index: number
}

/**
 * Adds an entry to a list from which it can be removed in constant time. It is a plain array, for entries that are
 * added and removed by the thousand.
 *
 * Why not a `Set`: V8 keeps each table that a `Set` has outgrown linked to the next one, and their garbage collection
 * took a fifth of a server's time.
 */
export function addToList<T extends IndexedEntry>(list: T[], entry: T): void {
  entry.index = list.push(entry) - 1
}

/** Removes an entry by moving the last one to its place. Does nothing if the list does not contain it. */
export function removeFromList<T extends IndexedEntry>(list: T[], entry: T): void {
  if (list[entry.index] !== entry) return
  const lastEntry = list.pop()
  if (lastEntry === undefined || lastEntry === entry) return
  list[entry.index] = lastEntry
  lastEntry.index = entry.index
}
