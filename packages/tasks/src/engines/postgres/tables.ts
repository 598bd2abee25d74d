import type { SqlDatabase } from './sql-database.ts'

/** The tables of an engine, quoted and with their schema. */
export interface TableNames {
  readonly schema: string
  readonly task: string
  readonly journal: string
  readonly answer: string
  readonly version: string
  /** The function that limits the tasks of a caller. */
  readonly hasRoomFunction: string
}

/**
 * Names the tables of a schema. Throws `RangeError` for a name that is none, because a name cannot be a parameter of a
 * query.
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

/**
 * Each brings the tables from the version of its place to the next. What is JSON is text: `jsonb` changes numbers and
 * the order of keys, and refuses characters that JSON has.
 */
const migrations: readonly ((tables: TableNames) => string)[] = [
  ({ schema, task, journal, answer, version }) => `
CREATE SCHEMA IF NOT EXISTS "${schema}";
CREATE SCHEMA IF NOT EXISTS "${schema}_jobs";
CREATE TABLE ${version} (number integer NOT NULL);
INSERT INTO ${version} VALUES (0);
CREATE TABLE ${task} (
  id text PRIMARY KEY,
  owner text NOT NULL,
  payload text NOT NULL,
  status text NOT NULL DEFAULT 'working',
  status_message text,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  expires_at timestamptz,
  requests text NOT NULL DEFAULT '{}',
  outcome text,
  attempt integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  leased_until timestamptz,
  cancelling boolean NOT NULL DEFAULT false
);
CREATE INDEX task_open ON ${task} (owner) WHERE status IN ('working', 'input_required');
CREATE INDEX task_leased ON ${task} (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX task_expires ON ${task} (expires_at) WHERE expires_at IS NOT NULL;
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
);`,
  ({ task }) => `ALTER TABLE ${task} ADD COLUMN progress text;`,
  ({ schema, task }) => `
ALTER TABLE ${task} ADD COLUMN caller text;
UPDATE ${task} SET caller = owner;
ALTER TABLE ${task} ALTER COLUMN caller SET NOT NULL;
DROP INDEX "${schema}".task_open;
CREATE INDEX task_open ON ${task} (caller) WHERE status IN ('working', 'input_required');`,
  createHasRoomFunction,
  ({ task }) => `ALTER TABLE ${task} ADD COLUMN fixed_lifetime boolean NOT NULL DEFAULT false;`,
]

/**
 * Returns SQL of a function that returns whether a caller may have one more task, and holds a lock until the end of the
 * transaction that makes it. It is a function because each of its statements sees what others have written by then,
 * where those of one statement see what there was before the lock was waited for.
 *
 * With a lock of its own each creation counts what the one before it has made, and waits for it to be written. Those
 * that share the lock cannot reach the limit together while there is room for as many as there can be connections.
 */
function createHasRoomFunction({ schema, task, hasRoomFunction }: TableNames): string {
  return `
CREATE FUNCTION ${hasRoomFunction}(of_caller text, caller_limit bigint, is_shared boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  lock_key bigint := hashtextextended('${schema} ' || of_caller, 1);
  most bigint := caller_limit;
BEGIN
  IF is_shared THEN
    most := caller_limit - current_setting('max_connections')::bigint;
    PERFORM pg_advisory_xact_lock_shared(lock_key);
  ELSE
    PERFORM pg_advisory_xact_lock(lock_key);
  END IF;
  RETURN most > (
    SELECT count(*) FROM (
      SELECT FROM ${task} WHERE caller = of_caller AND status IN ('working', 'input_required')
        AND (expires_at IS NULL OR expires_at > statement_timestamp()) LIMIT caller_limit
    ) AS open
  );
END $$;`
}

/**
 * Makes the tables, or brings them to this version, once however many instances begin at the same time. A role that may
 * not make tables can use what another has made. Rejects when they are of a later version.
 */
export async function migrateTables({ query, transaction }: SqlDatabase, tables: TableNames): Promise<void> {
  // A catalog that is read as a table is seen as it is: what a session remembers of names is old after it has waited
  // for a lock.
  const versionTableQuery = "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'"
  const readVersion = async (runQuery: typeof query): Promise<number> => {
    if ((await runQuery(versionTableQuery, [tables.schema])).length === 0) return 0
    const [versionRow] = await runQuery(`SELECT number FROM ${tables.version}`)
    return Number(versionRow?.['number'])
  }
  if (isCurrentVersion(await readVersion(query), tables)) return
  await transaction(async (runQuery) => {
    await runQuery('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`mcp tasks: tables of ${tables.schema}`])
    const version = await readVersion(runQuery)
    if (isCurrentVersion(version, tables)) return
    for (const migration of migrations.slice(version)) await runQuery(migration(tables))
    await runQuery(`UPDATE ${tables.version} SET number = $1`, [migrations.length])
  })
}

function isCurrentVersion(version: number, { schema }: TableNames): boolean {
  if (version <= migrations.length) return version === migrations.length
  const advice = 'deploy that version of @x/tasks everywhere, or give this one another schema'
  throw new Error(
    `The tables of schema ${schema} are of version ${version}, and this knows ${migrations.length} at most: ${advice}`,
  )
}
