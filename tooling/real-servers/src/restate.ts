import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findFreePort } from './find-free-port.ts'

/** A Restate server that a test may kill and start again. */
export interface RealRestate {
  /** The URL for callers of handlers. */
  readonly ingress: string
  /** Registers the handlers that an endpoint serves, over HTTP/2 or over HTTP/1.1. */
  register(endpoint: string, options?: { readonly isHttp1?: boolean }): Promise<void>
  kill(): Promise<void>
  /** Starts the server again with its state. */
  restart(): Promise<void>
  close(): Promise<void>
}

interface Ports {
  readonly node: number
  readonly ingress: number
  readonly admin: number
}

/** Starts a Restate server from npm, with its state in a folder that `close` deletes. */
export async function startRestate(): Promise<RealRestate> {
  const folder = await mkdtemp(join(tmpdir(), 'real-restate-'))
  const ports: Ports = { node: await findFreePort(), ingress: await findFreePort(), admin: await findFreePort() }
  let server = await launch(folder, ports)
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  return {
    ingress: `http://127.0.0.1:${ports.ingress}`,
    register: async (endpoint, { isHttp1 = false } = {}) => {
      const response = await fetch(`http://127.0.0.1:${ports.admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri: endpoint, force: true, use_http_11: isHttp1 }),
      })
      if (!response.ok) throw new Error(`Restate did not register ${endpoint}: ${await response.text()}`)
    },
    kill,
    restart: async () => {
      server = await launch(folder, ports)
    },
    close: async () => {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function launch(folder: string, ports: Ports): Promise<ChildProcess> {
  const require = createRequire(createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json'))
  const program = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`)
  const env = {
    ...process.env,
    RESTATE_BASE_DIR: folder,
    RESTATE_NODE_NAME: 'node',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_BIND_PORT: String(ports.node),
    RESTATE_INGRESS__BIND_PORT: String(ports.ingress),
    RESTATE_ADMIN__BIND_PORT: String(ports.admin),
    RESTATE_DISABLE_TELEMETRY: 'true',
    // The server shares one machine with the tests.
    RESTATE_DEFAULT_NUM_PARTITIONS: '2',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '256MB',
    RESTATE_LOG_FILTER: 'off',
  }
  const server = spawn(program, ['--no-logo'], { env, stdio: 'ignore' })
  await untilHealthy(server, `http://127.0.0.1:${ports.admin}/health`)
  await untilHealthy(server, `http://127.0.0.1:${ports.ingress}/restate/health`)
  return server
}

async function untilHealthy(server: ChildProcess, url: string): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`Restate ended with code ${server.exitCode}`)
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)
    if (response?.ok) return
    await setTimeout(50)
  }
}
