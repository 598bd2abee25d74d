import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex, PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Exchange, Principal, Server } from '@x/exchange'
import { connectStdio, connectStreams, serveStdio } from '@x/transport-stdio'

/** Connects callers to a server over stdio. Disposal closes everything that was opened. */
export interface StdioTestTransport extends AsyncDisposable {
  readonly exchangeFor: (principal: Principal | undefined) => Exchange
}

/** Creates the two ends of a connection in memory. */
function streamPair(): readonly [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })]
}

/** Gives each caller its own pair of streams to the server. */
export function openStreamTransport(server: Server): Promise<StdioTestTransport> {
  const open: AsyncDisposable[] = []
  const exchangeFor = (principal: Principal | undefined): Exchange => {
    const [near, far] = streamPair()
    const service = serveStdio(server, { input: far, output: far, principal })
    const connection = connectStreams({ input: near, output: near })
    open.push(connection, service)
    return connection.exchange
  }
  return Promise.resolve({ exchangeFor, [Symbol.asyncDispose]: () => disposeAll(open) })
}

/** The path of the program that connects the pipes of a child process to a Unix socket. */
export const bridge = fileURLToPath(new URL('./programs/socket-bridge.mjs', import.meta.url))

/**
 * Starts a child process for each caller. Its pipes lead through a Unix socket to the server in this process, because
 * the handlers of a test are closures.
 */
export async function openChildTransport(server: Server): Promise<StdioTestTransport> {
  const folder = await mkdtemp(join(tmpdir(), 'e2e-stdio-'))
  const open: AsyncDisposable[] = []
  const exchangeFor = (principal: Principal | undefined): Exchange => {
    const path = join(folder, `${open.length}.sock`)
    const listening = serveSocket(server, path, principal)
    const connection = connectStdio({ command: process.execPath, args: [bridge, path] })
    open.push(connection, { [Symbol.asyncDispose]: async () => (await listening)[Symbol.asyncDispose]() })
    return async (request, call) => {
      await listening
      return connection.exchange(request, call)
    }
  }
  const dispose = async (): Promise<void> => {
    await disposeAll(open)
    await rm(folder, { recursive: true, force: true })
  }
  return { exchangeFor, [Symbol.asyncDispose]: dispose }
}

/** Serves each connection to a Unix socket as stdio. A child process that runs {@link bridge} connects its pipes to it. */
export async function serveSocket(server: Server, path: string, principal?: Principal): Promise<AsyncDisposable> {
  const services: AsyncDisposable[] = []
  const sockets = createSocketServer((socket) => {
    services.push(serveStdio(server, { input: socket, output: socket, ...(principal && { principal }) }))
  })
  sockets.listen(path)
  await once(sockets, 'listening')
  const dispose = async (): Promise<void> => {
    sockets.close()
    await disposeAll(services)
  }
  return { [Symbol.asyncDispose]: dispose }
}

async function disposeAll(open: readonly AsyncDisposable[]): Promise<void> {
  for (const one of open) await one[Symbol.asyncDispose]()
}
