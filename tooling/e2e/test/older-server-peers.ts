import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@tooling/real-servers/free-port'
import { type Client, createClient } from '@x/client'
import { type AnyConnection, connectAny } from '@x/legacy/client'

const packages = new URL('../node_modules/@modelcontextprotocol/', import.meta.url)
/** The official reference servers. */
export const everything = fileURLToPath(new URL('server-everything/dist/index.js', packages))
export const filesystem = fileURLToPath(new URL('server-filesystem/dist/index.js', packages))
export const memory = fileURLToPath(new URL('server-memory/dist/index.js', packages))
/** A program of the official SDK. Its argument is an older revision. */
export const serverOfRevision = fileURLToPath(new URL('programs/server-of-revision.mjs', import.meta.url))

/** A client of an older server. Its connection detects the revision. */
export interface Peer extends AsyncDisposable {
  readonly client: Client
  readonly connection: AnyConnection
  /** The questions that the client received. */
  readonly asked: string[]
}

const workFolder = { uri: 'file:///work', name: 'work' }

/** Creates a client that answers each question. */
export function peerOf(
  connection: AnyConnection,
  dispose: () => Promise<void> = async () => {},
  root = workFolder,
): Peer {
  const asked: string[] = []
  const client = createClient(connection.exchange, {
    name: 'host',
    version: '1.0.0',
    elicit: ({ message }) => {
      asked.push(message)
      return { action: 'accept', content: { name: 'Ada' } }
    },
    sample: () => {
      asked.push('sample')
      return { role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } }
    },
    roots: () => [root],
  })
  const close = async (): Promise<void> => {
    await connection.close()
    await dispose()
  }
  return { client, connection, asked, [Symbol.asyncDispose]: close }
}

/** Connects to a program of Node over stdio. */
export function overStdio(...args: readonly string[]): Peer {
  return peerOf(connectAny({ command: process.execPath, args }, { handshakeTimeoutMs: 60_000 }))
}

/** Starts server-everything over HTTP. */
export function everythingOverHttp(): Promise<Peer> {
  return overHttp(everything, 'streamableHttp')
}

/** Starts a server of fastmcp over HTTP. */
export function fastmcpOverHttp(kind: 'sessions' | 'stateless' = 'sessions'): Promise<Peer> {
  return overHttp(fileURLToPath(new URL('programs/fastmcp-server.mjs', import.meta.url)), kind)
}

/** Starts a program of Node that serves at a port, and connects to it when its output says so. */
async function overHttp(...args: readonly string[]): Promise<Peer> {
  const port = await findFreePort()
  const env = { ...process.env, PORT: String(port) }
  const child: ChildProcess = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  await new Promise<void>((resolve) => {
    const onText = (text: string): void => (text.includes('listening') ? resolve() : undefined)
    child.stderr?.setEncoding('utf8').on('data', onText)
    child.stdout?.setEncoding('utf8').on('data', onText)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return peerOf(connectAny(`http://127.0.0.1:${port}/mcp`), () => {
    child.kill('SIGKILL')
    return ended
  })
}

/** Creates a temporary folder that its disposal deletes. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'older-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}
