import type { JournalEntry } from '@x/schema'
import type { Lease, LeaseState, TaskEnd, TaskProgress, TaskRelease, TaskSuspension } from '../engine.ts'
import type { SqlRow } from './sql-database.ts'
import { timeFromNowSql, notExpiredCondition, prolongedExpirySql, type SqlStore } from './sql-store.ts'
import { hashEntryName, toStoredText } from './task-rows.ts'

/** True of a task that is this attempt's: every write of a worker is fenced by it, in the statement that writes. */
const leaseCondition = `id = $1 AND attempt = $2 AND leased_until IS NOT NULL AND ${notExpiredCondition}`

/** Renews leases, all in one statement. */
export async function renewLeases(store: SqlStore, leases: readonly Lease[]): Promise<readonly LeaseState[]> {
  const { database, tables, leaseMs } = store
  if (leases.length === 0) return []
  const rows = await database.query(
    `UPDATE ${tables.task} SET leased_until = ${timeFromNowSql('$3')}
    FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS asked (asked_id, asked_attempt, place)
    WHERE id = asked_id AND attempt = asked_attempt AND leased_until IS NOT NULL AND ${notExpiredCondition}
    RETURNING place::integer AS place, cancelling`,
    [leases.map(({ id }) => toStoredText(id)), leases.map(({ attempt }) => attempt), leaseMs],
  )
  const rowsByPosition = new Map(rows.map((row) => [row['place'], row]))
  return leases.map((_, index) => toLeaseState(rowsByPosition.get(index + 1)))
}

function toLeaseState(row: SqlRow | undefined): LeaseState {
  if (row === undefined) return 'lost'
  return row['cancelling'] === true ? 'cancelling' : 'owned'
}

/** Keeps progress, in one statement. */
export async function recordProgress(store: SqlStore, lease: Lease, progress: TaskProgress): Promise<LeaseState> {
  const [row] = await store.database.query(createProgressSql(store, {}), createProgressValues(lease, progress))
  return toLeaseState(row)
}

/** Keeps progress and what is asked, and ends the claim. */
export async function suspendTask(store: SqlStore, lease: Lease, suspension: TaskSuspension): Promise<LeaseState> {
  const setClause = `, status = 'input_required', requests = $8::text, expires_at = ${prolongedExpirySql('$9')}, leased_until = NULL`
  const [row] = await store.database.query(
    createProgressSql(store, {
      setSql: setClause,
      failuresSql: '0',
      isUpdatedSql: 'true',
      whereSql: ' AND NOT cancelling',
    }),
    [...createProgressValues(lease, suspension), JSON.stringify(suspension.requests), suspension.lifetimeMs],
  )
  return row === undefined ? readRejectedWriteState(store, lease) : 'owned'
}

/** Keeps progress, ends the claim, and puts the task into the queue again, for now or for later, in one statement. */
export async function releaseTask(store: SqlStore, lease: Lease, taskRelease: TaskRelease): Promise<LeaseState> {
  const { database, queue, notifyWork } = store
  const queueSql = `, queued AS (${queue.createInsertSql('SELECT id, $8::float8 FROM held')})`
  const sql = createProgressSql(store, { setSql: ', leased_until = NULL', whereSql: ' AND NOT cancelling', queueSql })
  const [row] = await database.query(sql, [...createProgressValues(lease, taskRelease), taskRelease.pauseMs ?? 0])
  if (row === undefined) return readRejectedWriteState(store, lease)
  if (taskRelease.pauseMs === undefined) notifyWork()
  return 'owned'
}

/** Returns the reason for which nothing was written. Neither reason goes away while the lease is held. */
async function readRejectedWriteState({ database, tables }: SqlStore, lease: Lease): Promise<LeaseState> {
  const rows = await database.query(`SELECT FROM ${tables.task} WHERE ${leaseCondition}`, [
    toStoredText(lease.id),
    lease.attempt,
  ])
  return rows.length === 0 ? 'lost' : 'cancelling'
}

/** Ends a task, and deletes what only its carrying on needed. */
export async function finishTask(store: SqlStore, lease: Lease, taskEnd: TaskEnd): Promise<boolean> {
  const [row] = await store.database.query(createFinishTaskSql(store, leaseCondition, ['$3', '$4', '$5', '$6']), [
    toStoredText(lease.id),
    lease.attempt,
    ...createFinishTaskValues(taskEnd),
  ])
  return Number(row?.['ended']) === 1
}

/** SQL that ends the tasks of a condition, with the parameters of {@link createFinishTaskValues}. */
export function createFinishTaskSql({ tables }: SqlStore, whereSql: string, placeholders: readonly string[]): string {
  const [status, outcome, message, lifetime] = placeholders
  return `WITH ended AS (
      UPDATE ${tables.task} SET status = ${status}::text, outcome = ${outcome}::text, status_message = ${message}::text,
        expires_at = ${prolongedExpirySql(String(lifetime))}, updated_at = statement_timestamp(), requests = '{}', leased_until = NULL, cancelling = false
      WHERE ${whereSql} RETURNING id
    ), forgotten AS (
      DELETE FROM ${tables.journal} USING ended WHERE task_id = ended.id
    ), answered AS (
      DELETE FROM ${tables.answer} USING ended WHERE task_id = ended.id
    )
    SELECT count(*)::integer AS ended FROM ended`
}

/** Status, outcome, status message and life of a task that ends. */
export function createFinishTaskValues({ outcome, statusMessage, lifetimeMs }: TaskEnd): readonly unknown[] {
  const message = statusMessage === undefined ? null : toStoredText(statusMessage)
  return [outcome.status, JSON.stringify(outcome), message, lifetimeMs]
}

interface ProgressSqlExtras {
  /** More to set, each after a comma. */
  readonly setSql?: string
  /** Number of failures counted from now on, instead of the number that the progress leaves. */
  readonly failuresSql?: string
  /** When the row counts as changed, besides with another status message. */
  readonly isUpdatedSql?: string
  /** A further condition. */
  readonly whereSql?: string
  /** A further part of the statement, after a comma, which may read `held`. */
  readonly queueSql?: string
}

function createProgressSql({ tables }: SqlStore, extras: ProgressSqlExtras): string {
  const {
    setSql = '',
    failuresSql = 'CASE WHEN $3::boolean THEN 0 ELSE failures END',
    isUpdatedSql = 'false',
    whereSql = '',
    queueSql = '',
  } = extras
  return `WITH held AS (
      UPDATE ${tables.task} SET failures = CASE WHEN $3::boolean THEN 0 ELSE ${failuresSql} END,
        status_message = coalesce($4::text, status_message),
        progress = coalesce($7::text, progress),
        updated_at = CASE WHEN ${isUpdatedSql} OR coalesce($4::text, status_message) IS DISTINCT FROM status_message
          OR coalesce($7::text, progress) IS DISTINCT FROM progress
          THEN statement_timestamp() ELSE updated_at END${setSql}
      WHERE ${leaseCondition}${whereSql} RETURNING id, cancelling
    ), kept AS (
      INSERT INTO ${tables.journal} (task_id, name, entry)
      SELECT held.id, given.name, given.entry FROM held, unnest($5::text[], $6::text[]) AS given (name, entry)
      ON CONFLICT (task_id, name) DO UPDATE SET entry = excluded.entry
    )${queueSql}
    SELECT cancelling FROM held`
}

function createProgressValues({ id, attempt }: Lease, progress: TaskProgress): readonly unknown[] {
  const { entries, statusMessage, progress: progressNumbers, hasProgressed } = progress
  const progressJson = progressNumbers === undefined ? null : JSON.stringify(progressNumbers)
  const message = statusMessage === undefined ? null : toStoredText(statusMessage)
  const lastEntryTexts = mapLastEntryTexts(entries)
  return [
    toStoredText(id),
    attempt,
    hasProgressed,
    message,
    [...lastEntryTexts.keys()],
    [...lastEntryTexts.values()],
    progressJson,
  ]
}

/** One statement writes a row once. */
function mapLastEntryTexts(entries: readonly JournalEntry[]): ReadonlyMap<string, string> {
  return new Map(entries.map((entry) => [hashEntryName([entry.member, entry.key]), JSON.stringify(entry)]))
}
