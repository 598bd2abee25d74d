import type { TaskStatus } from '../schema/task.ts'

/**
 * Returns a text in a form that every store keeps unchanged, without the zero character and lone surrogates. Different texts
 * have different forms, so that no two ids or owners become equal.
 */
export function toStoredText(text: string): string {
  return /^"|\0|\p{Surrogate}/u.test(text) ? JSON.stringify(text) : text
}

/** Returns the original text of a stored text. */
export function fromStoredText(storedText: string): string {
  return storedText.startsWith('"') ? String(JSON.parse(storedText)) : storedText
}

const taskStatuses: ReadonlySet<unknown> = new Set<TaskStatus>([
  'working',
  'input_required',
  'completed',
  'cancelled',
  'failed',
])

/** Checks a stored value that is a status. */
export function toTaskStatus(value: unknown): TaskStatus {
  // The set contains only values of `TaskStatus`.
  if (taskStatuses.has(value)) return value as TaskStatus
  throw new Error(`A task has the status ${String(value)}: was the store changed by hand?`)
}
