import type { SchemaIssue } from '@x/schema'

/** A model can correct only a few faults at a time, so a rejection lists no more issues. */
export const maxShownIssues = 20

/** The faults of a rejected value. */
export interface RejectedValue {
  /** At most the first 20. */
  readonly issues: readonly SchemaIssue[]
  /**
   * How many faults there are. Absent if {@link issues} contains all of them, and `Infinity` if the search stopped
   * early.
   */
  readonly total?: number | undefined
}

/** The value that the schema returned, or the faults of a rejected one. */
export type CheckedValue = { readonly value: unknown; readonly issues?: undefined } | RejectedValue

/** Copies a validator's first issues as {@link SchemaIssue}; further ones are only counted. */
export function createRejectedValue<Issue>(
  issues: readonly Issue[],
  toSchemaIssue: (issue: Issue) => SchemaIssue,
): RejectedValue {
  if (issues.length <= maxShownIssues) return { issues: issues.map(toSchemaIssue) }
  return { issues: issues.slice(0, maxShownIssues).map(toSchemaIssue), total: issues.length }
}

/** Text for a model or a person: a line for each fault, with its path. */
export function formatIssues({ issues, total = issues.length }: RejectedValue): string {
  const lines = issues.map(({ path, message }) => `- ${formatPointer(path)}: ${message}`)
  if (total > issues.length) lines.push(total === Infinity ? '- and more' : `- and ${total - issues.length} more`)
  return lines.join('\n')
}

/** Writes a JSON Pointer as people do: `/items/0/name` becomes `items.0.name`. */
function formatPointer(pointer: string): string {
  if (pointer === '') return '(the whole)'
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
