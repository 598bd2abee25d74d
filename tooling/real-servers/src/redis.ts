import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RedisClientType } from '@redis/client'

/** A Redis server that a test may stop and start again. */
export interface RealRedis {
  readonly path: string
  /** The folder of the stored values. */
  readonly folder: string
  /** The URL for clients. */
  readonly url: string
  kill(): Promise<void>
  /** Starts the server again, with its values or without them, as a server without persistence. */
  restart(options?: { readonly isEmpty?: boolean }): Promise<void>
  /** Suspends the server, with its connections open, as if its machine had lost the network. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

/** Starts a Redis server that persists every write, on a Unix socket in a new folder. */
export async function startRedis(program: string, options: readonly string[] = []): Promise<RealRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'real-redis-'))
  const path = join(folder, 'redis.sock')
  let server = await launch(program, { folder, path, options })
  const kill = async (): Promise<void> => {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  return {
    path,
    folder,
    url: `unix://${path}`,
    kill,
    async restart({ isEmpty = false } = {}) {
      if (isEmpty) await rm(join(folder, 'appendonlydir'), { recursive: true, force: true })
      server = await launch(program, { folder, path, options })
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async close() {
      if (server.exitCode === null && server.signalCode === null) await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A client of Redis. */
export type TestClient = RedisClientType

/** Connects a client that ignores connection errors. */
export async function connectRedis(path: string): Promise<TestClient> {
  const client = createClient({ socket: { path, reconnectStrategy: () => 20 } })
  client.on('error', () => {})
  await client.connect()
  return client
}

interface LaunchSettings {
  readonly folder: string
  readonly path: string
  /** Further options of the server, which override the default ones. */
  readonly options: readonly string[]
}

async function launch(program: string, { folder, path, options }: LaunchSettings): Promise<ChildProcess> {
  const address = ['--port', '0', '--unixsocket', path, '--dir', folder]
  const storage = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always']
  const server = spawn(program, [...address, ...storage, ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  for await (const chunk of server.stdout) {
    log += String(chunk)
    if (log.includes('eady to accept connections') && log.includes('.sock')) break
  }
  return server
}
