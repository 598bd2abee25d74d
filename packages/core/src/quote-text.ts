const maxLength = 128

/**
 * Returns a value from a peer for a message or a log: as JSON in one line, shortened to 128 characters. Characters that
 * control a terminal, or that hide or reverse others, are escaped.
 */
export function quoteText(value: unknown): string {
  const json =
    typeof value === 'string' ? JSON.stringify(shorten(value)) : shorten(JSON.stringify(value) ?? String(value))
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, escapeCharacter)
}

function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

function escapeCharacter(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index)
    return `\\u${unit.toString(16).padStart(4, '0')}`
  }).join('')
}
