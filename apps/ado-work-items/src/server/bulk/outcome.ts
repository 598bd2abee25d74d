/** A work item that is to be changed, as it was when it was found. */
export type Target = {
  readonly id: number
  /** A change requires this revision, so that it overwrites no change of another user. */
  readonly rev: number
  readonly type: string
}

/** The outcome of one work item; it is recorded, and travels with clients that have no tasks, so it is short. */
export type Outcome =
  | { readonly status: 'changed'; readonly rev: number }
  | { readonly status: 'unchanged'; readonly rev: number }
  /** Rules require these fields, and the user has given no values for them. */
  | { readonly status: 'waiting'; readonly needs: string[] }
  /** Another user changed it since it was found. */
  | { readonly status: 'conflict' }
  | { readonly status: 'skipped'; readonly why: string }

/** A work item, the change that it is to have, and what came of that. */
export interface Entry {
  readonly target: Target
  readonly fields: Readonly<Record<string, string | number | boolean>>
  readonly outcome: Outcome
}

/** A work item as people call it: `Bug #4522`. */
export function nameOf({ type, id }: Pick<Target, 'type' | 'id'>): string {
  return `${type} #${id}`
}

const maxNamed = 5

/** Several work items as people call them; of many, the first ones. */
export function namesOf(targets: readonly Target[]): string {
  const names = targets.map(nameOf)
  if (names.length > maxNamed) return `${names.slice(0, maxNamed).join(', ')} and ${names.length - maxNamed} more`
  const last = names.at(-1) ?? 'nothing'
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}
