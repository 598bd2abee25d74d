import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { portRefusal } from '@apps/front/usage'

/** A balancer that distributes requests over instances. */
export interface Balancer {
  readonly port: number
  close(): Promise<void>
}

/** The start of a connection: the session and the bytes received so far. */
interface RequestHead {
  /** The session id of a client of an older revision. */
  readonly session: string | undefined
  readonly bytes: Buffer
}

const maxHeadBytes = 65_536
const headMs = 15_000
const maxSessions = 10_000
const endOfHead = '\r\n\r\n'

/**
 * Listens on one local port and forwards each request to one of the ports of `targets`. It selects the least recently
 * used port. Within a session of an older revision, it selects the same port as before while that is a target. A target
 * that rejects the connection is skipped, so that no request fails because an instance has just died.
 *
 * Each connection carries one request, so a client cannot stay with one instance by reusing a connection. The cluster
 * module of Node is not used: if it passes a connection to a worker that is being killed, the connection is neither
 * answered nor closed.
 *
 * Throws `UsageError` if the port is not available. Port 0 selects a free port.
 */
export async function startBalancer(requestedPort: number, targets: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>()
  const byTurns = createTurns()
  const bySession = createSessionTable()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => {})
    onRequestHead(socket, ({ session, bytes }) => {
      const ports = session === undefined ? byTurns(targets()) : bySession(targets(), session)
      forward(socket, bytes, ports)
    })
  })
  const port = await listen(server, requestedPort)
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  return { port, close }
}

/** Creates a function that orders ports by their last use, the least recently used first. */
function createTurns(): (ports: readonly number[]) => readonly number[] {
  const lastTurns = new Map<number, number>()
  let turn = 0
  const lastTurn = (port: number) => lastTurns.get(port) ?? 0
  return (ports) => {
    const sorted = ports.toSorted((a, b) => lastTurn(a) - lastTurn(b))
    const [first] = sorted
    if (first !== undefined) lastTurns.set(first, ++turn)
    return sorted
  }
}

/**
 * Creates a function that orders ports for a session. The port that served the session before comes first while it is a
 * target. Otherwise a new instance could receive the answers to another instance's questions. The other ports follow in
 * the order of rendezvous hashing. The 10,000 most recently used sessions are stored.
 */
function createSessionTable(): (ports: readonly number[], session: string) => readonly number[] {
  const assignedPorts = new Map<string, number>()
  return (ports, session) => {
    const key = createHash('sha256').update(session).digest('hex')
    const weight = (port: number) => createHash('sha256').update(`${port} ${key}`).digest('hex')
    const sorted = ports.toSorted((a, b) => weight(a).localeCompare(weight(b)))
    const assignedPort = assignedPorts.get(key)
    const [port] = assignedPort !== undefined && ports.includes(assignedPort) ? [assignedPort] : sorted
    assignedPorts.delete(key)
    if (port === undefined) return sorted
    assignedPorts.set(key, port)
    const [oldestKey = key] = assignedPorts.keys()
    if (assignedPorts.size > maxSessions) assignedPorts.delete(oldestKey)
    return [port, ...sorted.filter((other) => other !== port)]
  }
}

/** Reads the head of the request. Closes a connection that does not send it in time. */
function onRequestHead(socket: Socket, take: (head: RequestHead) => void): void {
  let received = Buffer.alloc(0)
  const onData = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk])
    const end = received.indexOf(endOfHead)
    if (end < 0 && received.length > maxHeadBytes) socket.destroy()
    if (end < 0) return
    socket.off('data', onData).off('end', onEnd).pause().setTimeout(0)
    take(readRequestHead(received, end))
  }
  const onEnd = (): void => void socket.destroy()
  socket.setTimeout(headMs, onEnd)
  socket.on('data', onData).once('end', onEnd)
}

function readRequestHead(received: Buffer, end: number): RequestHead {
  const [start = '', ...headers] = received.toString('latin1', 0, end).split('\r\n')
  const forwarded = headers.filter((header) => !/^connection:/i.test(header))
  const head = [start, ...forwarded, 'Connection: close'].join('\r\n') + endOfHead
  return {
    session: olderSession(headers.join('\n')),
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), received.subarray(end + endOfHead.length)]),
  }
}

/**
 * Returns the session id of a client of an older revision. Requests of 2026-07-28 have the header `Mcp-Method`, and any
 * instance can serve them.
 */
function olderSession(headers: string): string | undefined {
  return /^mcp-method:/im.test(headers) ? undefined : /^mcp-session-id:\s*(\S+)/im.exec(headers)?.[1]
}

/** Connects the client to the first port that accepts. Closes the client's connection if none does. */
function forward(client: Socket, bytes: Buffer, [port, ...others]: readonly number[]): void {
  if (port === undefined || client.destroyed) {
    client.destroy()
    return
  }
  const instance = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const tryOthers = () => forward(client, bytes, others)
  instance.once('error', tryOthers)
  instance.once('connect', () => {
    instance.off('error', tryOthers)
    instance.write(bytes)
    pipeSocket(client, instance)
    pipeSocket(instance, client)
  })
}

/**
 * Pipes one socket into another. A regular end closes the other socket after the last byte, an error closes it at once.
 */
function pipeSocket(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => {})
  from.once('close', (failed) => {
    if (failed) to.destroy()
    else to.end()
  })
}

async function listen(server: Server, port: number): Promise<number> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    throw portRefusal(error, port)
  }
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : port
}
