import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { portRefusal } from '@apps/front/usage'

/** Something that spreads requests over instances. */
export interface Balancer {
  readonly port: number
  close(): Promise<void>
}

/** The head of a request, and what came of its body with it. */
interface RequestHead {
  /** The session of a client of an older revision. */
  readonly session: string | undefined
  readonly bytes: Buffer
}

const maxHeadBytes = 65_536
const headMs = 15_000
const maxSessions = 10_000
const endOfHead = '\r\n\r\n'

/**
 * Listens on one port of this machine and passes each request on to one of the ports which `targets` gives: the one
 * whose last turn is longest ago or, within a session of an older revision, the same one for as long as it is there. A
 * target that cannot be reached is skipped, so that no request fails because an instance has just died.
 *
 * Each connection carries one request, so that a client which would reuse its connection comes to another instance each
 * time. Node's own cluster hands connections to its workers instead. One that is on its way to a worker which is being
 * killed is then neither answered nor closed, and its client waits in vain.
 *
 * Throws a `UsageError` when the port is not to be had; 0 picks a free one.
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

/** Orders ports by their last turns; the first one has its turn. */
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
 * Orders ports by the session: first the one that the session was sent to before, as long as it is a target, so that an
 * instance that comes in the middle of a call does not get the answers to another one's questions. The others follow in
 * the order of rendezvous hashing. Of more than 10,000 sessions, the ones that were used last are remembered.
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

/** Reads the head of the request; a connection that does not send one in time is closed. */
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
 * The session of a client of an older revision: requests of 2026-07-28 name their method, and any instance serves them.
 */
function olderSession(headers: string): string | undefined {
  return /^mcp-method:/im.test(headers) ? undefined : /^mcp-session-id:\s*(\S+)/im.exec(headers)?.[1]
}

/** Joins a connection to the first of the ports that takes it; closes it when none does. */
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

/** Pipes one socket into the other, and its end too: an orderly one after the last byte, an error at once. */
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
