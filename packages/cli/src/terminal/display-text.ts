/** The longest text of a server that is shown at once, in UTF-16 code units. */
const maxShownLength = 4_000

/**
 * Returns a text of a server in a form that is safe in a terminal, at most 4,000 code units. Escape sequences, and
 * characters that reverse or hide other characters, are replaced by spaces. They could make a question look like
 * another question.
 */
export function toDisplayText(text: string): string {
  const printableText = text.replaceAll(/[^\P{C}\n]/gu, ' ')
  return printableText.length > maxShownLength ? `${printableText.slice(0, maxShownLength)}…` : printableText
}
