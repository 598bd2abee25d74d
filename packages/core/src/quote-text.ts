const maxLength = 128
/** Characters of which a line is made. */
const maxReadLength = 65_536

/**
 * Quotes a value from a peer in a message or a log: as JSON in one line, cut to 128 characters. Characters that control
 * a terminal, or that hide or reverse others, are escaped.
 */
export function quoteText(value: unknown): string {
  const json =
    typeof value === 'string' ? JSON.stringify(shorten(value)) : shorten(JSON.stringify(value) ?? String(value))
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, escapeCharacter)
}

/**
 * One line of a text from a peer, for a message or a log, at most so many characters: it can neither begin a line of its
 * own nor control a terminal, nor hide or reverse what follows.
 */
export function toPrintableLine(text: string, maxLength: number): string {
  return text
    .slice(0, maxReadLength)
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
}

function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/** Escapes a character as JSON does. */
export function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

/** A number with its noun, such as `1 tool` or `2 tools`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Words of an HTML page from its title on: before it come scripts and styles, which say nothing to a reader. */
export function pageTextOf(html: string): string {
  const titleIndex = html.search(/<title/i)
  return html.slice(Math.max(0, titleIndex)).replaceAll(/<[^<>]*(?:>|$)/g, ' ')
}
