import { Pool } from 'pg'

/** An issue in the database. */
export interface Issue {
  readonly id: number
  readonly title: string
  readonly state: 'open' | 'closed'
  readonly assignee: string | null
  readonly resolution: string | null
}

export const pool: Pool = new Pool({ connectionString: process.env.DATABASE_URL })

const columns = 'id, title, state, assignee, resolution'

/** Creates the tables if they do not exist. */
export async function createTables(): Promise<void> {
  await pool.query(`
    CREATE TABLE IF NOT EXISTS issues (
      id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      title text NOT NULL,
      state text NOT NULL DEFAULT 'open',
      assignee text,
      resolution text,
      idempotency_key text UNIQUE
    );
    CREATE TABLE IF NOT EXISTS comments (idempotency_key text PRIMARY KEY, issue integer NOT NULL, body text NOT NULL)`)
}

/** Inserts an issue once for each key. */
export async function insertIssue(title: string, key: string): Promise<Issue> {
  const text = `INSERT INTO issues (title, idempotency_key) VALUES ($1, $2)
    ON CONFLICT (idempotency_key) DO UPDATE SET idempotency_key = EXCLUDED.idempotency_key RETURNING ${columns}`
  const { rows } = await pool.query<Issue>(text, [title, key])
  return onlyRow(rows)
}

export async function insertComment(issue: number, body: string, key: string): Promise<void> {
  const text = 'INSERT INTO comments (idempotency_key, issue, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
  await pool.query(text, [key, issue, body])
}

export async function findIssue(id: number): Promise<Issue | undefined> {
  const { rows } = await pool.query<Issue>(`SELECT ${columns} FROM issues WHERE id = $1`, [id])
  return rows[0]
}

/** Selects at most 100 issues whose column has a value. */
export async function selectIssues(column: 'state' | 'assignee', value: string): Promise<Issue[]> {
  const text = `SELECT ${columns} FROM issues WHERE ${column} = $1 ORDER BY id LIMIT 100`
  return (await pool.query<Issue>(text, [value])).rows
}

/** Selects a page of issues after an id. */
export async function pageOfIssues(after: number, size: number): Promise<Issue[]> {
  const text = `SELECT ${columns} FROM issues WHERE id > $1 ORDER BY id LIMIT $2`
  return (await pool.query<Issue>(text, [after, size])).rows
}

export async function assignIssue(id: number, assignee: string): Promise<Issue | undefined> {
  const text = `UPDATE issues SET assignee = $2 WHERE id = $1 RETURNING ${columns}`
  return (await pool.query<Issue>(text, [id, assignee])).rows[0]
}

export async function closeIssue(id: number, resolution: string): Promise<Issue> {
  const text = `UPDATE issues SET state = 'closed', resolution = $2 WHERE id = $1 RETURNING ${columns}`
  return onlyRow((await pool.query<Issue>(text, [id, resolution])).rows)
}

function onlyRow(rows: readonly Issue[]): Issue {
  const [row] = rows
  if (row === undefined) throw new Error('The issue was deleted')
  return row
}
