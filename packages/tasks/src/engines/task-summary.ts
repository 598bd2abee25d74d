import type { InspectedTask, TaskSummary } from './engine.ts'

/** For a list: without arguments, requests and results. */
export function toTaskSummary({
  ageMs: _age,
  ttlMs: _ttl,
  progress: _progress,
  requests: _requests,
  result: _result,
  error: _error,
  ...summary
}: InspectedTask): TaskSummary {
  return summary
}
