import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createTurns, type SessionTurns } from './session-turns.ts'
import { createWireReader, isListen, readAnswer, type WireUnit } from './wire-units.ts'

/** A database in this process with PostgreSQL's wire protocol, such as PGlite. */
export interface WireDatabase {
  execProtocolRaw(message: Uint8Array): Promise<Uint8Array>
}

/** A listening database server. */
export interface ServedDatabase {
  readonly port: number
  close(): Promise<void>
}

interface Shared {
  readonly database: WireDatabase
  readonly turns: SessionTurns<Socket>
  readonly listeners: Set<Socket>
  readonly maxIdleMs: number
}

const rollBack = Buffer.from('Q\u0000\u0000\u0000\u000dROLLBACK\u0000', 'latin1')

/**
 * Serves a database of this process on a free local port. The database has one session, which all clients share.
 * Messages run in the order of their arrival. While a client has an open transaction, the messages of other clients
 * wait. A client that is idle in its transaction for `maxIdleMs` (default: 10,000) is disconnected. Notifications of
 * NOTIFY are sent to every client that listens, on any channel.
 */
export async function serveDatabase(
  database: WireDatabase,
  { maxIdleMs = 10_000 }: { readonly maxIdleMs?: number } = {},
): Promise<ServedDatabase> {
  const shared: Shared = { database, turns: createTurns<Socket>(), listeners: new Set(), maxIdleMs }
  const open = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    serve(socket, shared)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  return { port, close }
}

function serve(socket: Socket, shared: Shared): void {
  const read = createWireReader()
  socket.on('data', (chunk) => {
    try {
      for (const unit of read(Buffer.from(chunk))) handleUnit(unit, socket, shared)
    } catch {
      // A client that violates the protocol is disconnected without a response.
      socket.destroy()
    }
  })
  socket.on('error', () => {})
  socket.on('timeout', () => socket.destroy())
  socket.once('close', () => {
    shared.listeners.delete(socket)
    shared.turns.leave(socket, () => perform(rollBack, socket, shared))
  })
}

function handleUnit(unit: WireUnit, socket: Socket, shared: Shared): void {
  if (unit.kind === 'end') socket.destroy()
  else if (unit.kind === 'encryption') socket.write('N')
  else shared.turns.take(socket, () => perform(unit.bytes, socket, shared))
}

/**
 * Runs the messages in the database and sends the response to the client. Resolves to `true` if a transaction is open
 * afterwards.
 */
async function perform(bytes: Buffer, socket: Socket, shared: Shared): Promise<boolean> {
  const { database, listeners, maxIdleMs } = shared
  try {
    const answer = readAnswer(await database.execProtocolRaw(bytes))
    socket.setTimeout(answer.inTransaction ? maxIdleMs : 0)
    if (isListen(bytes)) listeners.add(socket)
    if (!socket.destroyed) socket.write(answer.bytes)
    if (answer.notifications.length > 0) for (const listener of listeners) listener.write(answer.notifications)
    return answer.inTransaction
  } catch (error) {
    socket.destroy(error instanceof Error ? error : new Error(String(error)))
    return false
  }
}
