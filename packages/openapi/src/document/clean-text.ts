/** In UTF-16 code units, for texts of a document that a model reads. */
export const textLimits = {
  // limit: titles of operations | characters | the title of a tool of an API | cut
  title: 100,
  // limit: descriptions of operations | characters | the description of a tool of an API | cut
  description: 1000,
  // limit: texts of schemas | characters | a title or description in the schema of a tool of an API | cut
  parameter: 300,
} as const

/**
 * A person does not see these characters, and they could hide an instruction: controls, formats, private use, halves.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu

/** A link or an image of Markdown, whose address a model might open. */
const link = /!?\[([^[\]]{0,300})\]\([^()]{0,500}\)/g

/**
 * Makes a text of a document fit for a model: visible characters, links replaced by their texts, and a length. Anything
 * but a string becomes an empty text.
 */
export function cleanText(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return ''
  const spaced = text.replaceAll(/\s+/g, (space) => (space.includes('\n') ? '\n' : ' '))
  const visible = spaced.replaceAll(invisible, (character) => (character === '\n' ? character : ''))
  const cleaned = visible.replaceAll(link, '$1').trim()
  if (cleaned.length <= maxLength) return cleaned
  return `${cleaned.slice(0, maxLength - 1).replace(/\p{Cs}$/u, '')}…`
}
