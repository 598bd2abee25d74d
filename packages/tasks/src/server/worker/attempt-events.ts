import { isJsonObject } from '@x/schema'
import { digestTaskId } from '../task-digest.ts'
import type { Attempt, WorkerContext } from './attempt.ts'

/** Emits the beginning of an attempt. Returns a function that emits its end. */
export function emitAttempt(attempt: Attempt, { emit, settings }: WorkerContext): () => void {
  const { clock } = settings
  const { task } = attempt
  const { params } = task.payload
  const tool = isJsonObject(params) ? String(params['name']) : ''
  const subject = { taskDigest: digestTaskId(task.id), tool, attempt: task.attempt }
  const startedAt = clock.monotonicNow()
  const { failures, waitedMs, entries } = task
  emit({ type: 'attempt_started', ...subject, failures, waitedMs, entryCount: entries.length })
  return () => {
    const durationMs = clock.monotonicNow() - startedAt
    const { totalBytes: journalBytes } = attempt.journalSize
    emit({ type: 'attempt_ended', ...subject, durationMs, journalBytes, end: attempt.storedEnd })
  }
}
