import type { CallToolResult } from '@x/schema'

/** The lines of a result's text. */
export function textOf(result: CallToolResult): string[] {
  return result.content.flatMap((block) => (block.type === 'text' ? block.text.split('\n') : []))
}
