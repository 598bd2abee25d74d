import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex, PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Exchange, Principal, Server } from '@x/schema'
import { connectStdio, connectStreams, serveStdio } from '@x/transport-stdio'

/** Connects an exchange to callers over stdio, with everything that it opened for that. */
export interface StdioCarrier extends AsyncDisposable {
  readonly exchangeFor: (principal: Principal | undefined) => Exchange
}

/** Two ends of one connection in memory. */
function streamPair(): readonly [Duplex, Duplex] {
  const [there, back] = [new PassThrough(), new PassThrough()]
  return [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })]
}

/** Every caller has a pair of streams of its own, with the server at the other end. */
export function carryOverStreams(server: Server): Promise<StdioCarrier> {
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

/** The program that joins the pipes of a child process to a Unix socket. */
export const bridge = fileURLToPath(new URL('./programs/socket-bridge.mjs', import.meta.url))

/**
 * Every caller runs a child process, whose pipes lead through a Unix socket back to the server here: handlers of a test
 * are closures, which no other process could have.
 */
export async function carryOverChildren(server: Server): Promise<StdioCarrier> {
  const folder = await mkdtemp(join(tmpdir(), 'e2e-stdio-'))
  const open: AsyncDisposable[] = []
  const exchangeFor = (principal: Principal | undefined): Exchange => {
    const path = join(folder, `${open.length}.sock`)
    const listening = listen(server, path, principal)
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

async function listen(server: Server, path: string, principal: Principal | undefined): Promise<AsyncDisposable> {
  const services: AsyncDisposable[] = []
  const sockets = createSocketServer((socket) => {
    services.push(serveStdio(server, { input: socket, output: socket, principal }))
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
