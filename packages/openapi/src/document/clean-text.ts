/** The maximum lengths of texts of a document that a model reads, in UTF-16 code units. */
export const textLimits = {
  // limit: titles of operations | characters | the title of a tool of an API | cut
  title: 100,
  // limit: descriptions of operations | characters | the description of a tool of an API | cut
  description: 1000,
  // limit: texts of schemas | characters | a title or description in the schema of a tool of an API | cut
  parameter: 300,
} as const

/** Characters that a person does not see, and that could hide an instruction: controls, formats, private use, halves. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu

/** A link or an image of Markdown, whose address a model might open. */
const link = /!?\[([^[\]]{0,300})\]\([^()]{0,500}\)/g

/**
 * Returns a text of a document as a model may read it: visible characters, links replaced by their texts, and at most a
 * number of characters. Anything but a string becomes an empty text.
 */
export function cleanText(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return ''
  const spaced = text.replaceAll(/\s+/g, (space) => (space.includes('\n') ? '\n' : ' '))
  const visible = spaced.replaceAll(invisible, (character) => (character === '\n' ? character : ''))
  const cleaned = visible.replaceAll(link, '$1').trim()
  if (cleaned.length <= maxLength) return cleaned
  return `${cleaned.slice(0, maxLength - 1).replace(/\p{Cs}$/u, '')}…`
}
