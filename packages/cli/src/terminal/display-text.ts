import { escapeCharacter } from '@x/core'

/** In UTF-16 code units. */
const maxShownLength = 4_000

/**
 * Makes a text of a server safe in a terminal, and cuts it to 4,000 code units. Escape sequences, and characters that
 * reverse or hide others, become spaces: they could make a question look like another one.
 */
export function toDisplayText(text: string): string {
  const printableText = text.replaceAll(/[^\P{C}\n]|\p{Zl}|\p{Zp}/gu, ' ')
  return printableText.length > maxShownLength ? `${printableText.slice(0, maxShownLength)}…` : printableText
}

/**
 * A server's text as one line that is safe in a terminal. A line break in a name or a message could begin a line that
 * looks like one of the program.
 */
export function toDisplayLine(text: string): string {
  return toDisplayText(text).replaceAll('\n', ' ')
}

/**
 * In a terminal, each character that could control it is escaped, and the text remains the same JSON. A program at the
 * end of a pipe gets the characters as they are.
 */
export function toDisplayJson(value: object, output: { readonly isTTY?: boolean | undefined }): string {
  const json = JSON.stringify(value)
  return output.isTTY === true ? json.replaceAll(/\p{C}|\p{Zl}|\p{Zp}/gu, escapeCharacter) : json
}
