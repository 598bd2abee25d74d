import type { SchemaIssue } from '@x/schema'

/** The maximum number of issues in a rejection. A model can correct only a few faults at a time. */
export const maxShownIssues = 20

/** The faults of a rejected value. */
export interface RejectedValue {
  /** The first issues, at most 20. */
  readonly issues: readonly SchemaIssue[]
  /**
   * The number of all faults. Absent if {@link issues} contains all of them. `Infinity` if the search stopped early.
   */
  readonly total?: number | undefined
}

/** The value that the schema returned, or the faults of a rejected value. */
export type CheckedValue = { readonly value: unknown; readonly issues?: undefined } | RejectedValue

/** Copies the first issues of a validator as {@link SchemaIssue}. Further issues are only counted. */
export function createRejectedValue<Issue>(
  issues: readonly Issue[],
  toSchemaIssue: (issue: Issue) => SchemaIssue,
): RejectedValue {
  if (issues.length <= maxShownIssues) return { issues: issues.map(toSchemaIssue) }
  return { issues: issues.slice(0, maxShownIssues).map(toSchemaIssue), total: issues.length }
}

/** Returns the faults of a value as text for a model or a person: one line for each, with its path. */
export function formatIssues({ issues, total = issues.length }: RejectedValue): string {
  const lines = issues.map(({ path, message }) => `- ${formatPointer(path)}: ${message}`)
  if (total > issues.length) lines.push(total === Infinity ? '- and more' : `- and ${total - issues.length} more`)
  return lines.join('\n')
}

/** Returns a JSON Pointer in the form that people use: `/items/0/name` becomes `items.0.name`. */
function formatPointer(pointer: string): string {
  if (pointer === '') return '(the whole)'
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
}
