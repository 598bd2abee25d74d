import type { Exchange, Principal, Server } from '@x/exchange'
import { httpHandler } from '@x/transport-http'
import { connectHttp, type HttpConnection, type HttpConnectOptions } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { startSplittingProxy } from './splitting-proxy.ts'

/** Connects callers to a server over HTTP. Disposal closes everything that was opened. */
export interface TestTransport extends AsyncDisposable {
  readonly exchangeFor: (subject: string | undefined) => Exchange
}

const subjectHeader = 'x-test-subject'
const nowhere = 'http://127.0.0.1/mcp'

/** Serves over `node:http` on a loopback socket. */
export async function openSocketTransport(server: Server): Promise<TestTransport> {
  const http = await serve(server)
  const connections = openConnections(http.url, {})
  const dispose = async (): Promise<void> => {
    await connections.closeAll()
    await http.close({ graceMs: 0 })
  }
  return { exchangeFor: connections.open, [Symbol.asyncDispose]: dispose }
}

/** Serves over a proxy that forwards the bytes in pieces of random sizes. */
export async function openProxyTransport(server: Server): Promise<TestTransport> {
  const http = await serve(server)
  const proxy = await startSplittingProxy(http.port)
  const connections = openConnections(`http://127.0.0.1:${proxy.port}/mcp`, {})
  const dispose = async (): Promise<void> => {
    await connections.closeAll()
    await proxy[Symbol.asyncDispose]()
    await http.close({ graceMs: 0 })
  }
  return { exchangeFor: connections.open, [Symbol.asyncDispose]: dispose }
}

/** Calls the handler of web requests directly, without a socket. */
export function openFetchTransport(server: Server): Promise<TestTransport> {
  const handle = httpHandler(server, { auth: (view) => principalOf(view.header(subjectHeader)) })
  const { open, closeAll } = openConnections(nowhere, { fetch: (input, init) => handle(new Request(input, init)) })
  return Promise.resolve({ exchangeFor: open, [Symbol.asyncDispose]: closeAll })
}

/** Creates the principal of a subject for the handlers of a test. */
export function principalOf(subject: string | undefined): Principal | undefined {
  return subject === undefined ? undefined : { subject }
}

function serve(server: Server): ReturnType<typeof serveHttp> {
  return serveHttp(server, { auth: (view) => principalOf(view.header(subjectHeader)) })
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
    return connection.exchange
  }
  const closeAll = async (): Promise<void> => {
    for (const connection of connections) await connection.close()
  }
  return { open, closeAll }
}
