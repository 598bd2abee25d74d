import type { CallToolResult } from '@x/schema'

/** Describes a result for users: its text, and a word for each other part. */
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
