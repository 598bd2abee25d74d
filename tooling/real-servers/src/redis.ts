import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RedisClientType } from '@redis/client'

/** A server that a test may end and begin again. */
export interface RealRedis {
  readonly path: string
  /** The address for clients. */
  readonly url: string
  kill(): Promise<void>
  /** Starts it again with its values, or without them, as one that keeps nothing on a disk. */
  restart(options?: { readonly isEmpty?: boolean }): Promise<void>
  /** Makes it silent, with its connections open, as a machine is that has lost its network. */
  freeze(): void
  thaw(): void
  close(): Promise<void>
}

/** A Redis server of the test's own, on a socket in a folder of its own, that keeps every write. */
export async function startRedis(program: string): Promise<RealRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'real-redis-'))
  const path = join(folder, 'redis.sock')
  let server = await launch(program, folder, path)
  const kill = async (): Promise<void> => {
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  return {
    path,
    url: `unix://${path}`,
    kill,
    async restart({ isEmpty = false } = {}) {
      if (isEmpty) await rm(join(folder, 'appendonlydir'), { recursive: true, force: true })
      server = await launch(program, folder, path)
    },
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    async close() {
      if (server.exitCode === null && server.signalCode === null) await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Creates a connected client, as an application has one. */
export type TestClient = RedisClientType

/** A connected client; its errors are its own affair, as an application's log would be. */
export async function connectRedis(path: string): Promise<TestClient> {
  const client = createClient({ socket: { path, reconnectStrategy: () => 20 } })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function launch(program: string, folder: string, path: string): Promise<ChildProcess> {
  const options = ['--port', '0', '--unixsocket', path, '--dir', folder, '--save', '', '--appendonly', 'yes']
  const server = spawn(program, [...options, '--appendfsync', 'always'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  for await (const chunk of server.stdout) {
    log += String(chunk)
    if (log.includes('eady to accept connections') && log.includes('.sock')) break
  }
  return server
}
