import { importPeerDependency } from '../import-peer-dependency.ts'
import type { Query, SqlDatabase } from './sql-database.ts'

/** The tasks that are ready, in the order in which they became so. */
export interface JobQueue {
  /**
   * Puts a task into the queue, within the caller's transaction; it is not taken before so many milliseconds have
   * passed.
   */
  send(query: Query, id: string, pauseMs?: number): Promise<void>
  /** Takes up to `most` out of the queue within the caller's transaction; what another one is taking is left to it. */
  take(query: Query, maxJobs: number): Promise<readonly string[]>
  close(): Promise<void>
}

/** The schema of the jobs, and the handler of errors in the background. */
export interface QueueSettings {
  readonly schema: string
  readonly onError: (error: unknown) => void
}

const queueName = 'ready'
const unusedJobId = '00000000-0000-0000-0000-000000000000'
const tenYearsSeconds = 315_360_000

/**
 * Opens the queue: pg-boss, over the same connections as everything else. A job lives from the moment in which its task
 * is ready until a worker claims it: then the task's row says who has it, for how long and at which attempt, and the
 * job is gone.
 */
export async function openQueue(database: SqlDatabase, { schema, onError }: QueueSettings): Promise<JobQueue> {
  const { PgBoss } = await importPeerDependency('pg-boss@12.35.0', () => import('pg-boss'))
  // Its schema was made with the tables: several instances that make one at the same time trip over each other,
  // `IF NOT EXISTS` or not.
  const boss = new PgBoss({ db: createBossDatabase(database.maintain), schema, createSchema: false, schedule: false })
  // An emitter without this listener would end the process.
  boss.on('error', onError)
  await boss.start()
  await boss.createQueue(queueName, { retentionSeconds: tenYearsSeconds })
  // It reads what it has to know of a queue when that is first used, which must not be within a transaction of another
  // connection.
  await boss.deleteJob(queueName, unusedJobId)
  return {
    send: async (query, id, pauseMs = 0) =>
      void (await boss.send(queueName, { id }, { db: createBossDatabase(query), startAfter: pauseMs / 1000 })),
    take: async (query, maxJobs) => {
      const db = createBossDatabase(query)
      const jobs = await boss.fetch<{ id: string }>(queueName, { batchSize: maxJobs, db })
      if (jobs.length === 0) return []
      await boss.deleteJob(
        queueName,
        jobs.map(({ id }) => id),
        { db },
      )
      return jobs.map(({ data }) => data.id)
    },
    close: () => boss.stop({ graceful: false, close: false }),
  }
}

function createBossDatabase(query: Query) {
  return { executeSql: async (text: string, values?: unknown[]) => ({ rows: [...(await query(text, values))] }) }
}
