import { importPeerDependency, type SqlDatabase } from './sql-database.ts'

/**
 * The tasks that are ready, in the order in which they became so: a queue of pg-boss. Its jobs are written and taken by
 * SQL that is part of a statement about their tasks, as pg-boss documents its table for. It makes the tables, and tends
 * their partitions, indexes and rows that are left.
 */
export interface JobQueue {
  /**
   * Returns SQL that puts tasks into the queue: a SELECT of ids, with their pause in milliseconds, before which no
   * worker takes them.
   */
  createInsertSql(selectSql: string): string
  /** Returns SQL that takes up to so many ids, as `task_id`, out of the queue. What another one takes is left to it. */
  createTakeSql(limitSql: string): string
  close(): Promise<void>
}

/** The schema of the jobs, and the handler of errors in the background. */
export interface QueueSettings {
  readonly schema: string
  readonly onError: (error: unknown) => void
}

const queueName = 'ready'
const tenYearsSeconds = 315_360_000

/**
 * Opens the queue over the same connections as everything else. A job lives from the moment in which its task is ready
 * until a worker claims it: then the task's row says who has it, for how long and at which attempt, and the job is
 * deleted.
 */
export async function openQueue(
  { maintenanceQuery }: SqlDatabase,
  { schema, onError }: QueueSettings,
): Promise<JobQueue> {
  const { PgBoss } = await importPeerDependency('pg-boss@12.35.0', () => import('pg-boss'))
  const db = {
    executeSql: async (text: string, values?: unknown[]) => ({ rows: [...(await maintenanceQuery(text, values))] }),
  }
  // Its schema was made with the tables: several instances that make one at the same time trip over each other,
  // `IF NOT EXISTS` or not.
  const boss = new PgBoss({ db, schema, createSchema: false, schedule: false })
  // An emitter without this listener would end the process.
  boss.on('error', onError)
  await boss.start()
  await boss.createQueue(queueName, { retentionSeconds: tenYearsSeconds })
  const table = `"${schema}".job`
  return {
    createInsertSql: (selectSql) => `INSERT INTO ${table} (name, policy, data, start_after, keep_until)
      SELECT '${queueName}', 'standard', jsonb_build_object('id', ready.id),
        now() + ready.pause_ms * interval '1 millisecond', now() + interval '${tenYearsSeconds} seconds'
      FROM (${selectSql}) AS ready (id, pause_ms)`,
    createTakeSql: (limitSql) => `DELETE FROM ${table} WHERE name = '${queueName}' AND id = ANY(ARRAY(
      SELECT id FROM ${table}
      WHERE name = '${queueName}' AND state < 'active' AND NOT blocked AND start_after <= now()
      ORDER BY priority DESC, created_on LIMIT ${limitSql} FOR UPDATE SKIP LOCKED
    )) RETURNING data->>'id' AS task_id`,
    close: () => boss.stop({ graceful: false, close: false }),
  }
}
