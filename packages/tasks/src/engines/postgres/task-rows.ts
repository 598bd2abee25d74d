import { createHash } from 'node:crypto'
import { parseJsonObject } from '@x/core'
import type { JournalEntry } from '@x/exchange'
import { isJsonObject, type JsonObject, type WireError } from '@x/schema'
import type { ClaimedTask, ProgressNumbers, TaskRow } from '../engine.ts'
import { fromStoredText, toStoredText, toTaskStatus } from '../stored-values.ts'
import type { SqlRow } from './sql-database.ts'

/** Times are in milliseconds, because every driver reads a number the same way. */
export const rowColumns = `id, status, status_message, progress, requests, outcome,
  floor(extract(epoch FROM created_at) * 1000)::float8 AS created_ms,
  floor(extract(epoch FROM updated_at) * 1000)::float8 AS updated_ms,
  round(extract(epoch FROM statement_timestamp() - created_at) * 1000)::float8 AS age_ms,
  round(extract(epoch FROM expires_at - created_at) * 1000)::float8 AS ttl_ms`

export const claimColumns = 'id, attempt, token, failures, payload, cancelling'

// The functions below throw if another program has changed a row, and never guess a value.

export function taskRowOf(row: SqlRow): TaskRow {
  const { outcome, ttl_ms: ttlMs } = row
  const { result, error } = outcome === null ? {} : objectFromColumn(outcome)
  return {
    id: fromStoredText(textFromColumn(row['id'])),
    status: toTaskStatus(row['status']),
    statusMessage: messageFromColumn(row['status_message']),
    progress: progressFromColumn(row['progress']),
    createdAt: Number(row['created_ms']),
    ageMs: Number(row['age_ms']),
    updatedAt: Number(row['updated_ms']),
    ttlMs: ttlMs === null ? null : Number(ttlMs),
    requests: objectFromColumn(row['requests']),
    result: isJsonObject(result) ? result : undefined,
    // `finish` stored a `WireError`.
    error: isJsonObject(error) ? (error as unknown as WireError) : undefined,
  }
}

/** A task's id, as it is stored. */
export function claimedTaskId(row: SqlRow): string {
  return textFromColumn(row['id'])
}

export function claimedTaskOf(
  row: SqlRow,
  { entries, answers }: { readonly entries: readonly SqlRow[]; readonly answers: readonly SqlRow[] },
): ClaimedTask {
  return {
    id: fromStoredText(claimedTaskId(row)),
    attempt: Number(row['attempt']),
    token: textFromColumn(row['token']),
    failures: Number(row['failures']),
    waitedMs: Number(row['waited_ms']),
    payload: objectFromColumn(row['payload']),
    isCancelling: row['cancelling'] === true,
    // The column contains a `JournalEntry` as text.
    entries: entries.map(({ entry }) => objectFromColumn(entry) as unknown as JournalEntry),
    responses: Object.fromEntries(answers.map(({ entry }) => answerFromColumn(entry))),
  }
}

export function objectFromColumn(column: unknown): JsonObject {
  const value = parseJsonObject(textFromColumn(column))
  if (value !== undefined) return value
  throw new Error('A task holds a JSON value that is not an object: was its table changed by hand?')
}

function answerFromColumn(column: unknown): readonly [string, JsonObject] {
  const { key, response } = objectFromColumn(column)
  if (typeof key === 'string' && isJsonObject(response)) return [key, response]
  throw new Error('An answer of a task cannot be read: was its table changed by hand?')
}

export function textToColumn(text: string | undefined): string | null {
  return text === undefined ? null : toStoredText(text)
}

function messageFromColumn(column: unknown): string | undefined {
  return column === null ? undefined : fromStoredText(textFromColumn(column))
}

function progressFromColumn(column: unknown): ProgressNumbers | undefined {
  if (column === null) return undefined
  const { progress, total } = objectFromColumn(column)
  return { progress: Number(progress), ...(typeof total === 'number' && { total }) }
}

function textFromColumn(column: unknown): string {
  if (typeof column === 'string') return column
  throw new Error(`A column of a task is of type ${typeof column} and not text: was its table changed by hand?`)
}

/** Hashed, because an index does not accept long names. */
export function hashEntryName(key: unknown): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('base64url')
}
