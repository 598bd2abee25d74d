/** The longest text of a server that is shown at once, in UTF-16 code units. */
const longestShown = 4_000

/**
 * Returns a text from a server as a terminal may show it, at most 4,000 code units of it. Escape sequences, and
 * characters that turn or hide others, could make a question look like another one: each becomes a space.
 */
export function shownText(text: string): string {
  const harmless = text.replaceAll(/[^\P{C}\n]/gu, ' ')
  return harmless.length > longestShown ? `${harmless.slice(0, longestShown)}…` : harmless
}
