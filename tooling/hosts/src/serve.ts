import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startIssuer } from '@tooling/examples/oauth/issuer'
import { node24 } from '@tooling/node-versions'
import { findFreePort } from '@tooling/real-servers/free-port'
import type { JsonObject } from '@x/schema'
import { startFront } from './front.ts'
import { waitFor } from './terminal.ts'

/** How a host reaches its server. */
export interface ServerEntry {
  /** The URL, or undefined over stdio. */
  readonly url?: string
  /** The user must log in first. */
  readonly needsLogin?: boolean
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A server that runs, and what can be seen at it. */
export interface Served {
  readonly entry: ServerEntry
  /** The messages that arrived over HTTP. */
  readonly messages: readonly JsonObject[]
  /**
   * Starts another process of the server, and kills the first one, with all that it knows. How long a server needs to
   * start is not what is tried.
   */
  restart(): Promise<void>
  /** Waits until the server has noted an event that no client sees. */
  event(name: string, timeoutMs: number): Promise<void>
  close(): Promise<void>
}

/** Our server, or a twin on the official SDK. */
export type Program = 'demo' | 'twin' | 'stateless-twin'

/** Which server runs, and how. */
export interface ServeOptions {
  readonly program: Program
  readonly over: 'stdio' | 'http'
  /** Processes that get the requests in turns. */
  readonly instances: number
  /** The server accepts the tokens of an authorization server alone. */
  readonly needsLogin: boolean
  /** A folder for the files of the server. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** Serves one server on loopback. Its URL stays the same when its processes are replaced. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { program, over, instances, needsLogin, folder, env } = options
  const events = join(folder, 'events')
  const file = fileURLToPath(new URL(`demo/${program}-server.ts`, import.meta.url))
  const settings = { ...env, EVENTS: events }
  const entry = { command: node24, args: [file], env: settings }
  const event = async (name: string, timeoutMs: number): Promise<void> => {
    const look = async () => (await readFile(events, 'utf8').catch(() => '')).includes(name) || undefined
    await waitFor(look, { timeoutMs, describe: () => `the server noted no event "${name}"` })
  }
  if (over === 'stdio') return { entry, messages: [], event, restart: async () => {}, close: async () => {} }
  const running: Instance[] = []
  const front = await startFront(() => running.map(({ port }) => port))
  const resource = front.url
  const issuer = needsLogin ? await startIssuer({ port: await findFreePort(), resource, scope: 'demo:use' }) : undefined
  const start = () => startInstance(file, { ...settings, RESOURCE: resource, ...(issuer && { ISSUER: issuer.issuer }) })
  running.push(...(await Promise.all(Array.from({ length: instances }, start))))
  return {
    entry: { ...entry, url: front.url, needsLogin },
    messages: front.messages,
    event,
    async restart() {
      const [old] = running
      running[0] = await start()
      await old?.kill()
    },
    async close() {
      await Promise.all(running.map(({ kill }) => kill()))
      issuer?.close()
      await front.close()
    },
  }
}

interface Instance {
  readonly port: number
  kill(): Promise<void>
}

async function startInstance(file: string, env: Readonly<Record<string, string>>): Promise<Instance> {
  const port = await findFreePort()
  const child = spawn(node24, [file], { env: { ...env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk) => (log += String(chunk)))
  const stop = (): void => void child.kill('SIGKILL')
  process.once('exit', stop)
  const exited = once(child, 'exit')
  const first = await Promise.race([once(child.stdout, 'data'), exited.then(() => undefined)])
  if (first === undefined) throw new Error(`the server did not start:\n${log}`)
  return {
    port,
    async kill() {
      stop()
      await exited
      process.off('exit', stop)
    },
  }
}
