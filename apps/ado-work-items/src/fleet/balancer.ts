import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { portRefusal } from '@apps/front/usage'

/** A balancer that distributes requests over instances. */
export interface Balancer {
  readonly port: number
  close(): Promise<void>
}

const maxSessions = 10_000

/**
 * Listens on one local port and forwards each request to one of the ports of `targets`. It selects the least recently
 * used port. Within a session of an older revision, it selects the same port as before while that is a target: the answer
 * to a question belongs to the instance that asked. A target that rejects the connection is skipped, so that no request
 * fails because an instance has just died. Each connection carries one request, so that no client stays with an instance.
 *
 * Throws `UsageError` if the port is not available. Port 0 selects a free port.
 */
export async function startBalancer(requestedPort: number, targets: () => readonly number[]): Promise<Balancer> {
  const sortByTurns = createTurns()
  const sortForSession = createSessionTable()
  const server = createServer((incoming, response) => {
    response.shouldKeepAlive = false
    const session = olderSession(incoming)
    void forward(
      incoming,
      response,
      session === undefined ? sortByTurns(targets()) : sortForSession(targets(), session),
    )
  })
  // An open stream or a waiting call takes as long as it takes.
  server.requestTimeout = 0
  const port = await listen(server, requestedPort)
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
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

/** Returns the session id of a client of an older revision. Any instance can serve requests of 2026-07-28. */
function olderSession({ headers }: IncomingMessage): string | undefined {
  const { 'mcp-session-id': session, 'mcp-method': method } = headers
  return method === undefined && typeof session === 'string' ? session : undefined
}

/**
 * Creates a function that orders ports for a session. The port that served the session before comes first while it is a
 * target. The others follow in the order of rendezvous hashing, so that requests at the same time agree on the next one:
 * an answer and the request for the rest of a stream need one instance. The 10,000 sessions that were used last are
 * remembered.
 */
function createSessionTable(): (ports: readonly number[], session: string) => readonly number[] {
  const assigned = new Map<string, number>()
  return (ports, session) => {
    const weight = (port: number) => createHash('sha256').update(`${port} ${session}`).digest('hex')
    const sorted = ports.toSorted((a, b) => weight(a).localeCompare(weight(b)))
    const port = sorted.find((one) => one === assigned.get(session)) ?? sorted[0]
    assigned.delete(session)
    if (port === undefined) return sorted
    assigned.set(session, port)
    const [oldest] = assigned.keys()
    if (assigned.size > maxSessions && oldest !== undefined) assigned.delete(oldest)
    return [port, ...sorted.filter((other) => other !== port)]
  }
}

/** Forwards a request to the first port that accepts. Breaks the connection off if none does. */
async function forward(incoming: IncomingMessage, response: ServerResponse, ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    const socket = await open(port)
    if (socket === undefined) continue
    const { method, url, rawHeaders } = incoming
    const headers = rawHeaders.flatMap((name, index) =>
      index % 2 === 1 || name.toLowerCase() === 'connection' ? [] : [[name, rawHeaders[index + 1] ?? '']],
    )
    const outgoing = request({ createConnection: () => socket, method, path: url, headers: headers.flat() })
    response.once('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
    try {
      const [answer]: [IncomingMessage] = await new Promise((resolve, reject) => {
        outgoing.once('error', reject)
        outgoing.once('response', (message) => resolve([message]))
      })
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.once('error', () => response.destroy())
      answer.pipe(response)
      return
    } catch {
      break
    }
  }
  response.destroy()
}

/** Connects to a port. Resolves to undefined if nothing listens there. */
async function open(port: number): Promise<Socket | undefined> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    throw portRefusal(error, port)
  }
  return (server.address() as AddressInfo).port
}
