import type { Query } from '../src/engines/postgres/sql-database.ts'

/** Lets time pass for the tasks of an engine, by moving all stored times back. For tests. */
export async function passTime(query: Query, ms: number): Promise<void> {
  const columns = ['created_at', 'updated_at', 'expires_at', 'due_at']
  const moved = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 millisecond'`)
  await query(`UPDATE mcp_tasks.task SET ${moved.join(', ')}`, [ms])
}
