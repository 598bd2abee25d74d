/** The longest text of a server that is shown at once. */
const longestShown = 4_000

/**
 * A text from a server as a terminal may show it: escape sequences, and characters that turn or hide others, could make
 * a question look like another one.
 */
export function shownText(text: string): string {
  const harmless = text.replaceAll(/[^\P{C}\n]/gu, ' ')
  return harmless.length > longestShown ? `${harmless.slice(0, longestShown)}…` : harmless
}
