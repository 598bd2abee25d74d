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
  const ports = new Map<string, number>()
  const server = createServer((incoming, response) => {
    response.shouldKeepAlive = false
    const all = targets()
    const session = olderSession(incoming)
    const own = all.find((port) => session !== undefined && port === ports.get(session))
    const sorted = own === undefined ? sortByTurns(all) : [own, ...all.filter((port) => port !== own)]
    void forward(incoming, response, sorted).then((answered) => {
      // The server creates a session with its first response.
      const id = session ?? answered?.session
      if (answered !== undefined && typeof id === 'string') remember(ports, id, answered.port)
    })
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

/** Remembers the port of a session, of the 10,000 sessions that were used last. */
function remember(ports: Map<string, number>, session: string, port: number): void {
  ports.delete(session)
  ports.set(session, port)
  const [oldest] = ports.keys()
  if (ports.size > maxSessions && oldest !== undefined) ports.delete(oldest)
}

interface Answered {
  readonly port: number
  /** The session that the response names. */
  readonly session: unknown
}

/** Forwards a request to the first port that accepts. Breaks the connection off if none does. */
async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  ports: readonly number[],
): Promise<Answered | undefined> {
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
      return { port, session: answer.headers['mcp-session-id'] }
    } catch {
      break
    }
  }
  response.destroy()
  return undefined
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
