import type { CallToolResult } from '@x/schema'

/** Returns the lines of a result's text. */
export function textOf(result: CallToolResult): string[] {
  return result.content.flatMap((block) => (block.type === 'text' ? block.text.split('\n') : []))
}
