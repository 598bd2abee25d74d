import type { TaskStatus } from '../schema/task.ts'

/**
 * Escapes what not every store keeps: the zero character and lone surrogates. Different texts stay different, so that
 * no two ids or owners become equal.
 */
export function toStoredText(text: string): string {
  return /^"|\0|\p{Surrogate}/u.test(text) ? JSON.stringify(text) : text
}

/** Undoes {@link toStoredText}. */
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

export function toTaskStatus(value: unknown): TaskStatus {
  // The set contains only values of `TaskStatus`.
  if (taskStatuses.has(value)) return value as TaskStatus
  throw new Error(`A task has the status ${String(value)}: was the store changed by hand?`)
}
