import type { SchemaIssue } from '@x/schema'

/** The issues that are copied and written of one value: a model can act on a few faults at a time. */
export const maxShownIssues = 20

/** The faults of a rejected value. */
export interface RejectedValue {
  /** At most 20. */
  readonly issues: readonly SchemaIssue[]
  /** The number of faults that were found, where it is greater; `Infinity` where nobody looked for all of them. */
  readonly total?: number | undefined
}

/** A value as its schema left it, or its faults. */
export type CheckedValue = { readonly value: unknown; readonly issues?: undefined } | RejectedValue

/** Copies the first issues of a validator, in the form of {@link SchemaIssue}; the others are counted. */
export function rejected<Issue>(issues: readonly Issue[], copy: (issue: Issue) => SchemaIssue): RejectedValue {
  if (issues.length <= maxShownIssues) return { issues: issues.map(copy) }
  return { issues: issues.slice(0, maxShownIssues).map(copy), total: issues.length }
}

/** Writes the faults of a value, one a line with its path, for a model or a person to read. */
export function issueLines({ issues, total = issues.length }: RejectedValue): string {
  const lines = issues.map(({ path, message }) => `- ${dotted(path)}: ${message}`)
  if (total > issues.length) lines.push(total === Infinity ? '- and more' : `- and ${total - issues.length} more`)
  return lines.join('\n')
}

/** Writes a JSON Pointer in the form that people use: `/items/0/name` as `items.0.name`. */
function dotted(pointer: string): string {
  if (pointer === '') return '(the whole)'
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
