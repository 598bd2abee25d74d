import type { Lease, LeaseState, TaskEnd, TaskProgress, TaskRelease, TaskSuspension } from '../engine.ts'
import { toStoredText } from '../stored-values.ts'
import type { SqlRow } from './sql-database.ts'
import {
  endClaimSql,
  timeFromNowSql,
  notExpiredCondition,
  notifyWorkAfter,
  prolongedExpirySql,
  type SqlStore,
} from './sql-store.ts'
import { hashEntryName, textToColumn } from './task-rows.ts'

const leaseCondition = `id = $1 AND token = $2 AND leased AND ${notExpiredCondition}`

export async function renewLeases(store: SqlStore, leases: readonly Lease[]): Promise<readonly LeaseState[]> {
  const { database, tables, leaseMs } = store
  if (leases.length === 0) return []
  const rows = await database.query(
    `UPDATE ${tables.task} SET due_at = ${timeFromNowSql('$3')}
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (given_id, given_token, place)
    WHERE id = given_id AND token = given_token AND leased AND ${notExpiredCondition}
    RETURNING place::integer AS place, cancelling`,
    [leases.map(({ id }) => toStoredText(id)), leases.map(({ token }) => toStoredText(token)), leaseMs],
  )
  const rowsByPosition = new Map(rows.map((row) => [row['place'], row]))
  return leases.map((_, index) => toLeaseState(rowsByPosition.get(index + 1)))
}

function toLeaseState(row: SqlRow | undefined): LeaseState {
  if (row === undefined) return 'lost'
  return row['cancelling'] === true ? 'cancelling' : 'owned'
}

export async function recordProgress(store: SqlStore, lease: Lease, progress: TaskProgress): Promise<LeaseState> {
  const [row] = await store.database.query(createProgressSql(store, {}), createProgressValues(lease, progress))
  return toLeaseState(row)
}

export async function suspendTask(store: SqlStore, lease: Lease, suspension: TaskSuspension): Promise<LeaseState> {
  const setClause = `, status = 'input_required', requests = $8::text, expires_at = ${prolongedExpirySql('$9')}, ${endClaimSql('NULL')}`
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

/** Makes the task ready now, or after a pause, in one statement. */
export async function releaseTask(store: SqlStore, lease: Lease, taskRelease: TaskRelease): Promise<LeaseState> {
  const { pauseMs } = taskRelease
  const setSql = `, ${endClaimSql(timeFromNowSql('$8'))}`
  const write = store.database.query(createProgressSql(store, { setSql, whereSql: ' AND NOT cancelling' }), [
    ...createProgressValues(lease, taskRelease),
    pauseMs ?? 0,
  ])
  const [row] = await notifyWorkAfter(store, write, (rows) => rows.length > 0 && pauseMs === undefined)
  return row === undefined ? readRejectedWriteState(store, lease) : 'owned'
}

/** Says why a write had no effect. The reason cannot change before the claim ends. */
async function readRejectedWriteState({ database, tables }: SqlStore, lease: Lease): Promise<LeaseState> {
  const rows = await database.query(`SELECT FROM ${tables.task} WHERE ${leaseCondition}`, [
    toStoredText(lease.id),
    toStoredText(lease.token),
  ])
  return rows.length === 0 ? 'lost' : 'cancelling'
}

/** Also deletes what only a worker needs. */
export async function finishTask(store: SqlStore, lease: Lease, taskEnd: TaskEnd): Promise<boolean> {
  const [row] = await store.database.query(createFinishTaskSql(store, leaseCondition, ['$3', '$4', '$5', '$6', '$7']), [
    toStoredText(lease.id),
    toStoredText(lease.token),
    ...createFinishTaskValues(taskEnd),
  ])
  return Number(row?.['ended']) === 1
}

/** Ends the tasks that match a condition; its parameters come from {@link createFinishTaskValues}. */
export function createFinishTaskSql({ tables }: SqlStore, whereSql: string, placeholders: readonly string[]): string {
  const [status, outcome, message, lifetime, progress] = placeholders
  return `WITH ended AS (
      UPDATE ${tables.task} SET status = ${status}::text, outcome = ${outcome}::text,
        status_message = coalesce(${message}::text, status_message), expires_at = ${prolongedExpirySql(String(lifetime))}, updated_at = statement_timestamp(),
        requests = '{}', payload = '{}', progress = coalesce(${progress}::text, progress), cancelling = false, ${endClaimSql('NULL')}
      WHERE ${whereSql} RETURNING id
    ), forgotten AS (
      DELETE FROM ${tables.journal} USING ended WHERE task_id = ended.id
    ), answered AS (
      DELETE FROM ${tables.answer} USING ended WHERE task_id = ended.id
    )
    SELECT count(*)::integer AS ended FROM ended`
}

/** In order: status, outcome, status message, lifetime and progress. */
export function createFinishTaskValues({ outcome, statusMessage, progress, lifetimeMs }: TaskEnd): readonly unknown[] {
  const progressJson = progress ? JSON.stringify(progress) : null
  return [outcome.status, JSON.stringify(outcome), textToColumn(statusMessage), lifetimeMs, progressJson]
}

/**
 * `failuresSql` is the new number of failures unless a step was recorded, which resets it. If `isUpdatedSql` is true,
 * `updated_at` is set even if the status message and the progress are unchanged.
 */
function createProgressSql(
  { tables }: SqlStore,
  {
    setSql = '',
    failuresSql = 'failures',
    isUpdatedSql = 'false',
    whereSql = '',
  }: { [Part in 'setSql' | 'failuresSql' | 'isUpdatedSql' | 'whereSql']?: string },
): string {
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
    )
    SELECT cancelling FROM held`
}

function createProgressValues({ id, token }: Lease, progress: TaskProgress): readonly unknown[] {
  const { entries, statusMessage, progress: progressNumbers, hasProgressed } = progress
  const progressJson = progressNumbers === undefined ? null : JSON.stringify(progressNumbers)
  // The last entry for each name, because one statement cannot write a row twice.
  const lastEntryTexts = new Map(
    entries.map((entry) => [hashEntryName([entry.member, entry.key]), JSON.stringify(entry)]),
  )
  return [
    toStoredText(id),
    toStoredText(token),
    hasProgressed,
    textToColumn(statusMessage),
    [...lastEntryTexts.keys()],
    [...lastEntryTexts.values()],
    progressJson,
  ]
}
