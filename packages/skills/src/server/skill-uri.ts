/**
 * URI of a file or directory (extensions/skills, resource mapping). The first segment is the authority of the URI,
 * where characters are percent-encoded as in a path.
 */
export function skillUri(segments: readonly string[]): string {
  return `skill://${segments.map(encodeURIComponent).join('/')}`
}
