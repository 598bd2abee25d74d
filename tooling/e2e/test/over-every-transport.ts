import { type Client, type ClientOptions, createClient } from '@x/client'
import type { Exchange, Principal } from '@x/schema'
import { createServer, type Server, type ServerDefinition } from '@x/server'
import { httpHandler } from '@x/transport-http'
import { connectHttp, type HttpConnection, type HttpConnectOptions } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe } from 'vitest'
import { carryOverChildren, carryOverStreams, type StdioCarrier } from './carry-stdio.ts'

/** What a test says of the server; its name and version are always the same. */
export type Definition = Omit<ServerDefinition, 'name' | 'version'>

/** How a client of a test differs from a plain one. */
export interface PeerOptions extends Partial<ClientOptions> {
  /** Who calls, as the transport authenticates them; nobody by default. */
  readonly subject?: string
}

/** A client, and the exchange that it uses, for requests that no well-behaved client sends. */
export interface Peer {
  readonly client: Client
  readonly exchange: Exchange
}

/** A server that runs behind some transport; at the end of its scope it and all connections to it are gone. */
export interface Served extends AsyncDisposable {
  readonly server: Server
  connect(options?: PeerOptions): Peer
}

/** Starts a server behind the transport that the tests run over. */
export type Serve = (definition: Definition) => Promise<Served>

interface Carrier extends AsyncDisposable {
  readonly exchangeFor: (subject: string | undefined) => Exchange
}

type Carry = (server: Server) => Promise<Carrier>

const subjectHeader = 'x-test-subject'
const nowhere = 'http://127.0.0.1/mcp'

const headerCarriers: readonly (readonly [string, Carry])[] = [
  ['memory', carryInMemory],
  ['HTTP', carryOverSockets],
  ['the fetch handler', carryThroughFetch],
]
const carriers: readonly (readonly [string, Carry])[] = [
  ...headerCarriers,
  ['a stream pair', async (server) => bySubject(await carryOverStreams(server))],
  ['a child process', async (server) => bySubject(await carryOverChildren(server))],
]

/**
 * Runs tests once over memory, over HTTP on a real socket, through the fetch handler, over a pair of streams as stdio frames
 * them, and over the pipes of a child process.
 */
export function overEveryTransport(title: string, tests: (serve: Serve) => void): void {
  overEach(carriers, title, tests)
}

/** The same over those transports alone that have headers beside the message. */
export function overTransportsWithHeaders(title: string, tests: (serve: Serve) => void): void {
  overEach(headerCarriers, title, tests)
}

function overEach(each: readonly (readonly [string, Carry])[], title: string, tests: (serve: Serve) => void): void {
  describe.each(each)(`${title}, over %s`, (_, carry) => {
    tests(async (definition) => {
      const server = createServer({ name: 'e2e-server', version: '1.0.0', ...definition })
      const carrier = await carry(server)
      return {
        server,
        connect: ({ subject, ...options } = {}) => {
          const exchange = carrier.exchangeFor(subject)
          return { exchange, client: createClient(exchange, { name: 'e2e-client', version: '1.0.0', ...options }) }
        },
        [Symbol.asyncDispose]: () => carrier[Symbol.asyncDispose](),
      }
    })
  })
}

function carryInMemory(server: Server): Promise<Carrier> {
  const exchangeFor = (subject: string | undefined): Exchange => {
    const principal = principalOf(subject)
    return (request, call) => server(request, { ...call, principal })
  }
  return Promise.resolve({ exchangeFor, [Symbol.asyncDispose]: () => Promise.resolve() })
}

async function carryOverSockets(server: Server): Promise<Carrier> {
  const http = await serveHttp(server, { principal: (view) => principalOf(view.header(subjectHeader)) })
  const connections = openConnections(http.url, {})
  const dispose = async (): Promise<void> => {
    await connections.closeAll()
    await http.close({ graceMs: 0 })
  }
  return { exchangeFor: connections.open, [Symbol.asyncDispose]: dispose }
}

function carryThroughFetch(server: Server): Promise<Carrier> {
  const handle = httpHandler(server, { principal: (view) => principalOf(view.header(subjectHeader)) })
  const { open, closeAll } = openConnections(nowhere, { fetch: (input, init) => handle(new Request(input, init)) })
  return Promise.resolve({ exchangeFor: open, [Symbol.asyncDispose]: closeAll })
}

function bySubject({ exchangeFor, ...carrier }: StdioCarrier): Carrier {
  return { ...carrier, exchangeFor: (subject) => exchangeFor(principalOf(subject)) }
}

interface Connections {
  readonly open: (subject: string | undefined) => Exchange
  readonly closeAll: () => Promise<void>
}

function openConnections(url: string, options: HttpConnectOptions): Connections {
  const connections: HttpConnection[] = []
  const open = (subject: string | undefined): Exchange => {
    const connection = connectHttp(
      url,
      subject === undefined ? options : { ...options, headers: { [subjectHeader]: subject } },
    )
    connections.push(connection)
    return connection
  }
  const closeAll = async (): Promise<void> => {
    for (const connection of connections) await connection.close()
  }
  return { open, closeAll }
}

function principalOf(subject: string | undefined): Principal | undefined {
  return subject === undefined ? undefined : { subject }
}
