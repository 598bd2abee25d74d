/** A work item to change, with the revision that the search found. */
export type Target = {
  readonly id: number
  /** The write requires this revision, so that it does not overwrite another user's change. */
  readonly rev: number
  readonly type: string
}

/**
 * The outcome of one work item. It is stored in a journal, which travels with clients that have no tasks, so it is
 * short.
 */
export type Outcome =
  | { readonly status: 'changed'; readonly rev: number }
  | { readonly status: 'unchanged'; readonly rev: number }
  /** Rules require these fields, and the user has not given values for them yet. */
  | { readonly status: 'waiting'; readonly needs: string[] }
  /** Another user has changed the work item since the search. */
  | { readonly status: 'conflict' }
  | { readonly status: 'skipped'; readonly why: string }

/** A work item, the requested values, and the outcome. */
export interface Entry {
  readonly target: Target
  readonly fields: Readonly<Record<string, string | number | boolean>>
  readonly outcome: Outcome
}

/** Returns the name of a work item in texts: `Bug #4522`. */
export function nameOf({ type, id }: Pick<Target, 'type' | 'id'>): string {
  return `${type} #${id}`
}

const maxNamed = 5

/** Joins the names of work items. After the first few, only the number of the others follows. */
export function namesOf(targets: readonly Target[]): string {
  const names = targets.map(nameOf)
  if (names.length > maxNamed) return `${names.slice(0, maxNamed).join(', ')} and ${names.length - maxNamed} more`
  const last = names.at(-1) ?? 'nothing'
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}
