import { type Client, type ClientOptions, createClient } from '@x/client'
import type { Exchange, Middleware, Server } from '@x/schema'
import { createServer, type McpServer, type ServerDefinition } from '@x/server'
import { describe } from 'vitest'
import { type Carrier, carryOverSockets, carryThroughFetch, carryThroughProxy, principalOf } from './carry-http.ts'
import { carryOverChildren, carryOverStreams, type StdioCarrier } from './carry-stdio.ts'

/** A test's definition of the server; its name and version are always the same. */
export type Definition = Omit<ServerDefinition, 'name' | 'version'>

/** The differences between a test's client and a plain one. */
export interface PeerOptions extends Partial<ClientOptions> {
  /** The principal, as the transport authenticates it; none by default. */
  readonly subject?: string
}

/** A client, and the exchange that it uses, for requests that no well-behaved client sends. */
export interface Peer {
  readonly client: Client
  readonly exchange: Exchange
}

/** A server that runs behind some transport; at the end of its scope it and all connections to it are gone. */
export interface Served extends AsyncDisposable {
  readonly server: McpServer
  connect(options?: PeerOptions): Peer
}

/** The serving options of a test's server. */
export interface ServeOptions {
  /** Goes around the server on its own side of the transport, to hold a call there or to watch it. */
  readonly around?: Middleware
}

/** Starts a server behind the transport that the tests run over. */
export type Serve = (definition: Definition, options?: ServeOptions) => Promise<Served>

type Carry = (server: Server) => Promise<Carrier>

const headerCarriers: readonly (readonly [string, Carry])[] = [
  ['memory', carryInMemory],
  ['HTTP', carryOverSockets],
  ['HTTP through a proxy', carryThroughProxy],
  ['the fetch handler', carryThroughFetch],
]
const carriers: readonly (readonly [string, Carry])[] = [
  ...headerCarriers,
  ['a stream pair', async (server) => bySubject(await carryOverStreams(server))],
  ['a child process', async (server) => bySubject(await carryOverChildren(server))],
]

/**
 * Runs tests once over memory, over HTTP on a real socket, the same through a proxy, through the fetch handler, over a
 * pair of streams as stdio frames them, and over the pipes of a child process.
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
    tests(async (definition, { around } = {}) => {
      const use = around === undefined ? [] : [around]
      const server = createServer({ name: 'e2e-server', version: '1.0.0', use, ...definition })
      // One host more than connections, so that a connection which ends does not close the server for the next one.
      const release = server.attachHost()
      const carrier = await carry(server)
      return {
        server,
        connect: ({ subject, ...options } = {}) => {
          const exchange = carrier.exchangeFor(subject)
          return { exchange, client: createClient(exchange, { name: 'e2e-client', version: '1.0.0', ...options }) }
        },
        [Symbol.asyncDispose]: async () => {
          await carrier[Symbol.asyncDispose]()
          await release({ graceMs: 0 })
        },
      }
    })
  })
}

function carryInMemory(server: Server): Promise<Carrier> {
  const exchangeFor = (subject: string | undefined): Exchange => {
    const principal = principalOf(subject)
    return (request, { signal, context, notify }) => server.exchange(request, { signal, context, notify, principal })
  }
  return Promise.resolve({ exchangeFor, [Symbol.asyncDispose]: () => Promise.resolve() })
}

function bySubject({ exchangeFor, ...carrier }: StdioCarrier): Carrier {
  return { ...carrier, exchangeFor: (subject) => exchangeFor(principalOf(subject)) }
}

export { textOf } from './asking.ts'
export { memoryEngine } from '@x/tasks/memory'
