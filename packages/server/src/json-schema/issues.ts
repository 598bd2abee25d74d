import type { SchemaIssue } from '@x/schema'

/** A model can act on a few faults at a time; the rest is counted. */
const shown = 20

/** Faults of a value, one a line with its path, for a model or a person to read. */
export function issueLines(issues: readonly SchemaIssue[]): string {
  const lines = issues.slice(0, shown).map(({ path, message }) => `- ${dotted(path)}: ${message}`)
  if (issues.length > shown) lines.push(`- and ${issues.length - shown} more`)
  return lines.join('\n')
}

/** A JSON Pointer in the form that people write: `/items/0/name` as `items.0.name`. */
function dotted(pointer: string): string {
  if (pointer === '') return '(the whole)'
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
