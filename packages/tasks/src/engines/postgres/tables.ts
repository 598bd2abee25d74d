import type { SqlDatabase } from './sql-database.ts'

/** An engine's tables, quoted and with their schema. */
export interface TableNames {
  readonly schema: string
  readonly task: string
  readonly journal: string
  readonly answer: string
  readonly version: string
  /** SQL function that limits a caller's number of tasks. */
  readonly hasRoomFunction: string
}

/**
 * Names the tables in a schema. A name cannot be a parameter of a query, so other characters than the allowed ones
 * throw `RangeError`.
 */
export function tableNamesIn(schema: string): TableNames {
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema)) {
    const rule = 'use up to 40 small letters, digits and underscores, as in mcp_tasks'
    throw new RangeError(`schema is ${JSON.stringify(schema)}: ${rule}`)
  }
  const qualifiedName = (name: string): string => `"${schema}".${name}`
  return {
    schema,
    task: qualifiedName('task'),
    journal: qualifiedName('journal'),
    answer: qualifiedName('answer'),
    version: qualifiedName('version'),
    hasRoomFunction: qualifiedName('has_room'),
  }
}

/** Release 0.1.0 gave this version to the tables that the first migration creates. */
const firstVersion = 9

/** Each migration brings the tables to the next version. */
const migrations: readonly ((tables: TableNames) => string)[] = [createTables]

const currentVersion = firstVersion + migrations.length - 1

/**
 * JSON is stored as text, because `jsonb` changes numbers and the order of keys, and rejects some characters of JSON.
 * `due_at` is when a task became ready, or when its pause or lease ends. It is null if the task waits for its client or
 * has ended.
 */
function createTables(tables: TableNames): string {
  const { schema, task, journal, answer, version } = tables
  return `
CREATE SCHEMA IF NOT EXISTS "${schema}";
CREATE TABLE ${version} (number integer NOT NULL);
INSERT INTO ${version} VALUES (0);
CREATE TABLE ${task} (
  id text PRIMARY KEY,
  owner text NOT NULL,
  caller text NOT NULL,
  tool text NOT NULL,
  payload text NOT NULL,
  status text NOT NULL DEFAULT 'working',
  status_message text,
  progress text,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  expires_at timestamptz,
  fixed_lifetime boolean NOT NULL DEFAULT false,
  requests text NOT NULL DEFAULT '{}',
  outcome text,
  attempt integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  due_at timestamptz,
  leased boolean NOT NULL DEFAULT false,
  token text,
  worker text,
  cancelling boolean NOT NULL DEFAULT false
);
CREATE INDEX task_caller ON ${task} (caller, expires_at);
CREATE INDEX task_due ON ${task} (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX task_expires ON ${task} (expires_at) WHERE expires_at IS NOT NULL;
-- With a million rows, a page of the list takes 8 seconds without this index, and 20 milliseconds with it.
CREATE INDEX task_created ON ${task} (created_at, id);
-- Finds the open tasks, together with task_due. Among a million ended tasks, a count takes 2 seconds without this index.
CREATE INDEX task_waiting ON ${task} (created_at) WHERE status = 'input_required';
CREATE TABLE ${journal} (
  task_id text NOT NULL REFERENCES ${task} ON DELETE CASCADE,
  name text NOT NULL,
  entry text NOT NULL,
  PRIMARY KEY (task_id, name)
);
CREATE TABLE ${answer} (
  task_id text NOT NULL REFERENCES ${task} ON DELETE CASCADE,
  name text NOT NULL,
  entry text NOT NULL,
  PRIMARY KEY (task_id, name)
);
${createHasRoomFunction(tables)}`
}

/**
 * Defines `has_room`, which says whether a caller may have one more task, and locks the caller until the transaction
 * that creates the task ends. At the limit, it deletes the ended task of the caller that expires first, which an index
 * finds without a sort. Each statement of a function sees the writes that were committed before it, even while the
 * function waited for the lock.
 *
 * With an exclusive lock, the function counts the tasks of all earlier creations. With a shared lock, several creations
 * may run at once; they cannot exceed the limit together, because the function then requires room for as many tasks as
 * there can be connections.
 */
function createHasRoomFunction({ schema, task, hasRoomFunction }: TableNames): string {
  return `
CREATE OR REPLACE FUNCTION ${hasRoomFunction}(of_caller text, caller_limit bigint, is_shared boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint := hashtextextended('${schema} ' || of_caller, 1);
  max_count bigint := caller_limit;
BEGIN
  IF is_shared THEN
    max_count := caller_limit - current_setting('max_connections')::bigint;
    PERFORM pg_advisory_xact_lock_shared(lock_key);
  ELSE
    PERFORM pg_advisory_xact_lock(lock_key);
  END IF;
  IF max_count > (
    SELECT count(*) FROM (
      SELECT FROM ${task} WHERE caller = of_caller AND (expires_at IS NULL OR expires_at > statement_timestamp())
      LIMIT caller_limit
    ) AS kept
  ) THEN RETURN true; END IF;
  IF is_shared THEN RETURN false; END IF;
  DELETE FROM ${task} WHERE id = (
    SELECT id FROM ${task} WHERE caller = of_caller AND status NOT IN ('working', 'input_required')
    ORDER BY expires_at, updated_at LIMIT 1 FOR UPDATE SKIP LOCKED
  );
  RETURN FOUND;
END $$;`
}

/**
 * Creates the tables, or migrates them to this version, once, even if several instances start at the same time. A role
 * without the right to create tables can use those that another role has created. Rejects if the tables are of a later
 * version.
 */
export async function migrateTables({ query, transaction }: SqlDatabase, tables: TableNames): Promise<void> {
  // Queried as a table, because a session that has waited for a lock may still have old names in its cache.
  const versionTableQuery = "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'"
  const readVersion = async (runQuery: typeof query): Promise<number> => {
    if ((await runQuery(versionTableQuery, [tables.schema])).length === 0) return 0
    const [versionRow] = await runQuery(`SELECT number FROM ${tables.version}`)
    return Number(versionRow?.['number'])
  }
  if (isCurrentVersion(await readVersion(query), tables)) return
  await transaction(
    async (runQuery) => {
      await runQuery('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`mcp tasks: tables of ${tables.schema}`])
      const version = await readVersion(runQuery)
      if (isCurrentVersion(version, tables)) return
      const doneCount = Math.max(0, version - firstVersion + 1)
      for (const migration of migrations.slice(doneCount)) await runQuery(migration(tables))
      await runQuery(`UPDATE ${tables.version} SET number = $1`, [currentVersion])
    },
    { isMaintenance: true },
  )
}

function isCurrentVersion(version: number, { schema }: TableNames): boolean {
  if (version <= currentVersion) return version === currentVersion
  const advice = 'deploy that version of @x/tasks everywhere, or give this one another schema'
  throw new Error(
    `The tables of schema ${schema} are of version ${version}, and this version knows ${currentVersion} at most: ${advice}`,
  )
}

/** PostgreSQL's codes for a table, schema, function or column that does not exist. */
const missingObjectCodes: ReadonlySet<unknown> = new Set(['42P01', '3F000', '42883', '42703'])

/**
 * Creates or migrates the tables again if they are gone, because the database came back empty or with a state from
 * before a migration. The failed query had no effect, so it runs again.
 */
export function withMissingTables(database: SqlDatabase, tables: TableNames): SqlDatabase {
  const runAgain = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof Error) || !missingObjectCodes.has(Reflect.get(error, 'code'))) throw error
      await migrateTables(database, tables)
      return run()
    }
  }
  return {
    ...database,
    query: (...query) => runAgain(() => database.query(...query)),
    transaction: (...transaction) => runAgain(() => database.transaction(...transaction)),
  }
}
