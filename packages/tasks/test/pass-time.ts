import type { Query } from '../src/engines/postgres/sql-database.ts'

/** Lets time pass for the tasks and jobs of an engine, by moving back all that is written down. For tests. */
export async function passTime(query: Query, ms: number): Promise<void> {
  const columns = ['created_at', 'updated_at', 'expires_at', 'leased_until']
  const moved = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 millisecond'`)
  await query(`UPDATE mcp_tasks.task SET ${moved.join(', ')}`, [ms])
  await query(`UPDATE mcp_tasks_jobs.job SET start_after = start_after - $1::float8 * interval '1 millisecond'`, [ms])
}
