import { type IncomingMessage, request as sendHttp } from 'node:http'
import type { FetchFunction } from '@x/transport-http/client'
import type { Faults, MessageFault } from '../faults/faults.ts'
import type { Host, VirtualTime } from '../platform/virtual-time.ts'
import type { Balancer } from './balancer.ts'
import { connectionRefused, connectionReset, SimulatedSocket } from './socket.ts'

/** The connections between processes. */
export interface Network {
  /** Returns the `fetch` of a process. */
  fetchFor(client: Host): FetchFunction
  /** Returns the status of a request without faults. Undefined without a response. */
  probe(from: Host, to: Host, path: string): Promise<number | undefined>
  /** Connects two processes without faults, as a pipe does. Returns the end of each. */
  pipe(from: Host, to: Host): readonly [SimulatedSocket, SimulatedSocket]
  /** Closes all connections of a process, as its end does. */
  breakConnections(host: Host): void
  /** Closes all connections at the end of a simulation, because Node keeps the parser of an open one. */
  close(): void
}

const requestFaults: readonly MessageFault[] = ['lost', 'answer_lost', 'silent', 'answer_silent', 'cut', 'cut']
const repeatableFaults: readonly MessageFault[] = [...requestFaults, 'doubled']

/** The share of answers of older clients that arrive twice. A fleet detects them with its store. */
const doubledAnswerShare = 0.2

/** The maximum number of bytes of a response before it is cut. */
const maxBytesBeforeCut = 1500

/**
 * The time in milliseconds until a server detects that the client has closed the connection: the interval of comments
 * on an idle stream.
 */
const detectionMs = 15_000

/**
 * The time in milliseconds until the proxy closes the connection of a copy. Otherwise the copy of a GET reads a stream
 * without a client.
 */
const copyLifetimeMs = 10_000

type RequestInit = Pick<Parameters<FetchFunction>[1], 'headers' | 'body' | 'signal'> & { readonly method: string }

interface NetworkState {
  readonly time: VirtualTime
  readonly faults: Faults
  readonly sockets: Set<SimulatedSocket>
}

/** Creates the network between clients and the servers behind balancers, which have the ports of their URLs. */
export function createNetwork(time: VirtualTime, faults: Faults, balancers: ReadonlyMap<string, Balancer>): Network {
  const state: NetworkState = { time, faults, sockets: new Set() }
  return {
    fetchFor: (client) => (url, init) => {
      const target = new URL(url)
      const balancer = balancers.get(target.port)
      const fault = pickRequestFault(faults, init)
      if (fault !== 'none') faults.record(client.name, fault, `${init.method} ${describeBody(init.body)}`)
      const pick = (): SimulatedSocket => connect(state, client, { server: balancer?.pick(), path: balancer, fault })
      if (fault === 'doubled') sendCopy(state, pick(), target, init)
      return send(pick(), target, init)
    },
    probe: async (client, server, path) => {
      const socket = connect(state, client, { server, path: undefined, fault: 'none' })
      const signal = AbortSignal.any([])
      const response = send(socket, new URL(path, 'http://localhost'), { method: 'GET', headers: [], signal })
      return response.then(({ status }) => status).catch(() => undefined)
    },
    pipe: (from, to) => {
      const ends = [openSocket(state, from), openSocket(state, to)] as const
      ;[ends[0].peer, ends[1].peer] = [ends[1], ends[0]]
      return ends
    },
    breakConnections: (host) => {
      for (const { host: own, peer, isOpen } of state.sockets) {
        const error = isOpen ? connectionReset() : connectionRefused()
        if (own === host) time.schedule(peer?.host, faults.delayMs(), () => peer?.destroy(error))
      }
    },
    close: () => {
      for (const socket of state.sockets) socket.destroy()
    },
  }
}

function openSocket({ time, faults, sockets }: NetworkState, host: Host): SimulatedSocket {
  const socket = new SimulatedSocket(host, time, faults)
  sockets.add(socket)
  socket.on('error', () => {})
  socket.once('close', () => sockets.delete(socket))
  return socket
}

interface ConnectOptions {
  readonly server: Host | undefined
  /** The way to the server. */
  readonly path: Pick<Balancer, 'availability'> | undefined
  readonly fault: MessageFault
}

/** Opens a connection with a fault. Returns the end of the client. */
function connect(state: NetworkState, client: Host, options: ConnectOptions): SimulatedSocket {
  const { time, faults } = state
  const { server, path, fault } = options
  const socket = openSocket(state, client)
  const fail = (error: Error): void => void time.schedule(client, faults.delayMs(), () => socket.destroy(error))
  if (fault === 'silent' || path?.availability === 'silent') socket.isSilent = true
  else if (fault === 'lost') fail(connectionReset())
  else if (server === undefined || path?.availability === 'unavailable') fail(connectionRefused())
  else {
    const accepted = openSocket(state, server)
    accepted.isOpen = false
    accepted.peer = socket
    socket.peer = accepted
    injectFault(accepted, { time, faults, fault })
    if (server.state === 'dead') fail(connectionRefused())
    else
      socket.transfer(() => {
        if (server.accept === undefined) return fail(connectionRefused())
        accepted.isOpen = true
        server.accept(accepted)
      })
  }
  return socket
}

/** Lets the response of a connection be lost, or end before it is complete. The server detects that later. */
function injectFault(
  server: SimulatedSocket,
  { time, faults, fault }: { readonly time: VirtualTime; readonly faults: Faults; readonly fault: MessageFault },
): void {
  if (fault === 'answer_silent') server.isSilent = true
  if (fault !== 'answer_lost' && fault !== 'cut') return
  let bytesLeft = fault === 'cut' ? Math.floor(faults.random() * maxBytesBeforeCut) : 0
  server.onTransfer = (chunk) => {
    const arriving = chunk.subarray(0, bytesLeft)
    bytesLeft -= chunk.length
    if (bytesLeft >= 0) return chunk
    server.onTransfer = () => undefined
    time.schedule(server.host, detectionMs, () => server.destroy(connectionReset()))
    if (arriving.length > 0) server.transfer((client) => client.push(arriving))
    server.transfer((client) => {
      client.isSilent = true
      client.destroy(connectionReset())
    })
    return undefined
  }
}

/** Sends a request over a connection of its own. Resolves with the head of the response. */
function send(socket: SimulatedSocket, { host, pathname }: URL, init: RequestInit): Promise<Response> {
  const { method, headers, body, signal } = init
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const options = { method, path: pathname, headers: { host, ...Object.fromEntries(headers) } }
    const request = sendHttp({ ...options, createConnection: () => socket as never })
    const abort = (): void => {
      reject(signal.reason)
      request.destroy(connectionReset())
    }
    signal.addEventListener('abort', abort)
    request.once('close', () => signal.removeEventListener('abort', abort))
    request.on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
    request.on('response', (message) => {
      const status = message.statusCode ?? 0
      const isEmpty = status === 204 || status === 304
      const pairs = Object.entries(message.headers).map(([name, value]): [string, string] => [name, String(value)])
      resolve(new Response(isEmpty ? null : bodyOf(message), { status, headers: pairs }))
      if (isEmpty) message.resume()
    })
    request.end(body)
  })
}

function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  let isEnded = false
  return new ReadableStream({
    start: (controller) => {
      const end = (finish: () => void) => () => {
        if (!isEnded) finish()
        isEnded = true
      }
      message.on('data', (chunk: Uint8Array) => void (isEnded || controller.enqueue(chunk)))
      message.on(
        'end',
        end(() => controller.close()),
      )
      message.on(
        'error',
        end(() => controller.error(new TypeError('terminated'))),
      )
    },
    cancel: () => {
      isEnded = true
      message.destroy()
    },
  })
}

/** Sends a copy of a request, as if a proxy had sent the request again. The response is dropped. */
function sendCopy({ time }: NetworkState, socket: SimulatedSocket, target: URL, init: RequestInit): void {
  const signal = AbortSignal.any([])
  send(socket, target, { ...init, signal })
    .then((response) => response.text())
    .catch(() => {})
  time.schedule(socket.host, copyLifetimeMs, () => socket.destroy())
}

function pickRequestFault(faults: Faults, init: RequestInit): MessageFault {
  const isAnswer = init.body?.includes('"result":') === true
  if (isAnswer && faults.isActive && faults.random() < doubledAnswerShare) return 'doubled'
  return faults.pickFault(isRepeatable(init) ? repeatableFaults : requestFaults)
}

/** Returns false for a call of an older revision, which has no key by which a server recognizes a copy. */
function isRepeatable({ headers, body }: RequestInit): boolean {
  const isOlder = headers.some(([name]) => name.toLowerCase() === 'mcp-session-id')
  return !isOlder || describeBody(body) !== 'tools/call'
}

function describeBody(body: string | undefined): string {
  return /"method":"([^"]*)"/u.exec(body ?? '')?.[1] ?? 'no method'
}
