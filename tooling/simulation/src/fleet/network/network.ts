import type { FetchFunction } from '@x/transport-http/client'
import type { Faults, MessageFault } from '../faults/faults.ts'
import type { Host, VirtualTime } from '../platform/virtual-time.ts'
import type { Balancer } from './balancer.ts'
import { createClientStream } from './client-stream.ts'

/** The connections between clients and instances. */
export interface Network {
  /** Returns the `fetch` of a process. */
  fetchFor(client: Host): FetchFunction
  /** Closes all connections of a client or of an instance, as the end of its process does. */
  breakConnections(host: Host): void
}

const requestFaults: readonly MessageFault[] = ['lost', 'answer_lost', 'silent', 'answer_silent', 'cut', 'cut']
const repeatableFaults: readonly MessageFault[] = [...requestFaults, 'doubled']

/** The share of answers of older clients that arrive twice. A fleet detects them with its store. */
const doubledAnswerShare = 0.2

type RequestInit = Parameters<FetchFunction>[1]

/** One request of a client, at one instance. */
interface Connection {
  readonly client: Host
  readonly instance: Host
  /** Ends the connection at the client with an error. */
  fail(error: Error): void
  /** Ends the connection at the instance. */
  close(): void
}

interface NetworkState {
  readonly time: VirtualTime
  readonly faults: Faults
  readonly balancer: Balancer
  readonly connections: Set<Connection>
}

/** Creates the network between the clients and the instances behind a balancer. */
export function createNetwork(time: VirtualTime, faults: Faults, balancer: Balancer): Network {
  const state: NetworkState = { time, faults, balancer, connections: new Set() }
  return {
    fetchFor: (client) => (url, init) =>
      new Promise((resolve, reject) => sendRequest(state, { client, url, init, resolve, reject })),
    breakConnections: (host) => {
      for (const connection of state.connections) {
        const { client, instance, fail, close } = connection
        if (instance === host) time.schedule(client, faults.delayMs(), () => fail(connectionReset()))
        else if (client === host) time.schedule(instance, faults.delayMs(), close)
      }
    },
  }
}

interface SentRequest {
  readonly client: Host
  readonly url: string
  readonly init: RequestInit
  readonly resolve: (response: Response) => void
  readonly reject: (error: unknown) => void
}

function sendRequest(state: NetworkState, request: SentRequest): void {
  const { faults, time } = state
  const { client, init, reject } = request
  const fault = pickRequestFault(faults, init)
  if (fault !== 'none') faults.record(client.name, fault, `${init.method} ${describeBody(init.body)}`)
  if (init.signal.aborted) return reject(init.signal.reason)
  if (fault === 'lost') return void time.schedule(client, faults.delayMs(), () => reject(connectionReset()))
  if (fault === 'silent') return init.signal.addEventListener('abort', () => reject(init.signal.reason))
  if (fault === 'doubled') deliverCopy(state, request)
  deliver(state, request, fault)
}

/** Delivers a request to an instance, and its response to the client. */
function deliver(state: NetworkState, request: SentRequest, fault: MessageFault): void {
  const { time, faults, balancer, connections } = state
  const { client, url, init, resolve, reject } = request
  const instance = balancer.pick(init.headers)
  if (instance === undefined) return void time.schedule(client, faults.delayMs(), () => reject(connectionRefused()))
  const closed = new AbortController()
  const closeLater = (): void => void time.schedule(instance.host, detectionMs, () => closed.abort())
  const stream = createClientStream({
    time,
    faults,
    client,
    fault,
    onCut: closeLater,
    onEnd: () => connections.delete(connection),
  })
  const connection: Connection = {
    client,
    instance: instance.host,
    fail: (error) => {
      if (!connections.delete(connection)) return
      reject(error)
      stream.fail(error)
    },
    close: () => closed.abort(),
  }
  connections.add(connection)
  init.signal.addEventListener('abort', () => {
    connection.fail(init.signal.reason)
    time.schedule(instance.host, faults.delayMs(), () => closed.abort())
  })
  stream.onCancel = () => time.schedule(instance.host, faults.delayMs(), () => closed.abort())
  const arrivalMs = faults.delayMs()
  if (instance.host.state === 'dead')
    return void time.schedule(client, arrivalMs, () => connection.fail(connectionRefused()))
  time.schedule(instance.host, arrivalMs, () => {
    if (closed.signal.aborted) return
    void instance.handle(createRequest(url, init, closed.signal)).then((response) => {
      if (fault === 'answer_lost') {
        time.schedule(client, faults.delayMs(), () => connection.fail(connectionReset()))
        closeLater()
      } else if (fault !== 'answer_silent') stream.send(response, resolve)
    })
  })
}

/**
 * The time in milliseconds until an instance detects that the client has closed the connection: the interval of
 * comments on an idle stream.
 */
const detectionMs = 15_000

/**
 * The time in milliseconds until the proxy closes the connection of a copy. Otherwise the copy of a GET reads a stream
 * without a client.
 */
const copyLifetimeMs = 10_000

/** Delivers a copy of a request, as if a proxy had sent the request again. The response is dropped. */
function deliverCopy({ time, faults, balancer }: NetworkState, { url, init }: SentRequest): void {
  const instance = balancer.pick(init.headers)
  if (instance === undefined) return
  time.schedule(instance.host, faults.delayMs(), () => {
    const closed = new AbortController()
    time.schedule(instance.host, copyLifetimeMs, () => closed.abort())
    const answer = instance.handle(createRequest(url, init, closed.signal))
    void answer.then((response) => response.text()).catch(() => {})
  })
}

function createRequest(url: string, { method, headers, body }: RequestInit, signal: AbortSignal): Request {
  return new Request(url, { method, headers, signal, ...(body !== undefined && { body }) })
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

function connectionReset(): Error {
  return fetchFailed('ECONNRESET', 'read')
}

function connectionRefused(): Error {
  return fetchFailed('ECONNREFUSED', 'connect')
}

function fetchFailed(code: string, syscall: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(`${syscall} ${code}`), { code, syscall }) })
}
