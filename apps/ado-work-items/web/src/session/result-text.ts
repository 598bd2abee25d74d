import type { CallToolResult } from '@x/schema'

/** What a result says to people: its text, and a word for each thing that is no text. */
export function textIn(content: CallToolResult['content']): string {
  return content
    .map((block) => {
      if (block.type === 'text') return block.text
      if (block.type === 'resource_link') return ''
      return `(${block.type})`
    })
    .filter((text) => text !== '')
    .join('\n')
}
