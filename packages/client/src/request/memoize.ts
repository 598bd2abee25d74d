/**
 * Returns a function that makes a part with its first call, and returns the same one afterwards. A host has a client for
 * each of many servers, and most of them call a few tools and nothing else.
 */
export function memoize<Part extends object>(create: () => Part): () => Part {
  let part: Part | undefined
  return () => (part ??= create())
}
