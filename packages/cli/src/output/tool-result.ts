import type { CallToolResult, ContentBlock } from '@x/schema'
import { toDisplayLine, toDisplayText } from '../terminal/display-text.ts'
import type { Printer } from './printer.ts'

/** Texts as they are, and a line for every other part. */
export function printToolResult(printer: Printer, { content, structuredContent, isError }: CallToolResult): void {
  if (isError === true) printer.line(printer.color('red', 'The tool returned an error:'))
  for (const block of content) printer.line(describeBlock(block))
  // A tool with structured content repeats it as text for older clients (server/tools, structured content).
  if (content.length === 0 && structuredContent !== undefined)
    printer.line(toDisplayText(JSON.stringify(structuredContent, undefined, 2)))
}

function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return toDisplayText(block.text)
    case 'image':
    case 'audio':
      return toDisplayLine(`[${block.type}: ${block.mimeType}, ${block.data.length} characters of Base64]`)
    case 'resource_link':
      return toDisplayLine(`[link: ${block.uri}]`)
    default:
      return 'text' in block.resource
        ? toDisplayText(block.resource.text)
        : toDisplayLine(`[resource: ${block.resource.uri}]`)
  }
}
