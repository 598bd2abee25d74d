import { type Client, type ClientOptions, createClient } from '@x/client'
import { isNight } from '@tooling/vitest/needs'
import type { Exchange, Middleware, Server } from '@x/exchange'
import { createServer, type McpServer, type ServerDefinition } from '@x/server'
import { describe } from 'vitest'
import {
  type TestTransport,
  openSocketTransport,
  openFetchTransport,
  openProxyTransport,
  principalOf,
} from './test-transports-http.ts'
import { openChildTransport, openStreamTransport, type StdioTestTransport } from './test-transports-stdio.ts'

/** The definition of a test's server. The name and version are constant. */
export type Definition = Omit<ServerDefinition, 'name' | 'version'>

/** Options of a test's client. */
export interface PeerOptions extends Partial<ClientOptions> {
  /** The subject of the authenticated principal. The default is no principal. */
  readonly subject?: string
}

/** A client and its exchange. Tests use the exchange for requests that a valid client does not send. */
export interface Peer {
  readonly client: Client
  readonly exchange: Exchange
}

/** A server behind a transport. Its disposal closes the server and all connections. */
export interface Served extends AsyncDisposable {
  readonly server: McpServer
  connect(options?: PeerOptions): Peer
}

/** Options of a test's server. */
export interface ServeOptions {
  /** Middleware of the server, which observes or delays calls. */
  readonly middleware?: Middleware
}

/** Starts a server behind the transport that the tests run over. */
type Serve = (definition: Definition, options?: ServeOptions) => Promise<Served>

type OpenTestTransport = (server: Server) => Promise<TestTransport>

const transports: readonly (readonly [string, OpenTestTransport])[] = [
  ['memory', openMemoryTransport],
  ['HTTP', openSocketTransport],
  ['the fetch handler', openFetchTransport],
  // What random pieces of bytes break is in the readers of HTTP, whose own tests have pieces of every size.
  ...(isNight ? ([['HTTP through a proxy', openProxyTransport]] as const) : []),
  ['a stream pair', async (server) => bySubject(await openStreamTransport(server))],
  ['a child process', async (server) => bySubject(await openChildTransport(server))],
]

/**
 * Runs tests over each transport: memory, HTTP on a socket (at night through a proxy, too), the fetch handler, a pair of
 * streams with the framing of stdio, and the pipes of a child process.
 */
export function overEveryTransport(title: string, tests: (serve: Serve) => void): void {
  describe.each(transports)(`${title}, over %s`, (_, open) => {
    tests(async (definition, { middleware } = {}) => {
      const use = middleware === undefined ? [] : [middleware]
      const server = createServer({ name: 'e2e-server', version: '1.0.0', use, ...definition })
      // One more host than connections, so that the end of a connection does not close the server.
      const release = server.attachHost()
      const transport = await open(server)
      return {
        server,
        connect: ({ subject, ...options } = {}) => {
          const exchange = transport.exchangeFor(subject)
          return { exchange, client: createClient(exchange, { name: 'e2e-client', version: '1.0.0', ...options }) }
        },
        [Symbol.asyncDispose]: async () => {
          await transport[Symbol.asyncDispose]()
          await release({ graceMs: 0 })
        },
      }
    })
  })
}

function openMemoryTransport(server: Server): Promise<TestTransport> {
  const exchangeFor = (subject: string | undefined): Exchange => {
    const principal = principalOf(subject)
    return (request, { signal, context, notify }) => server.exchange(request, { signal, context, notify, principal })
  }
  return Promise.resolve({ exchangeFor, [Symbol.asyncDispose]: () => Promise.resolve() })
}

function bySubject({ exchangeFor, ...transport }: StdioTestTransport): TestTransport {
  return { ...transport, exchangeFor: (subject) => exchangeFor(principalOf(subject)) }
}
