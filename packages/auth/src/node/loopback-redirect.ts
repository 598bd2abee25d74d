import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Redirect, RedirectListener, RedirectOptions } from '../client/code-flow.ts'
import { isSecureUrl } from '../oauth-urls.ts'

/** Options of a login by a program on a person's machine. */
export interface LoopbackRedirectOptions {
  /**
   * Ports to listen on, the first that is free. Default: the port of the registration, else any free port. A client that
   * registers itself needs no list. A list is for clients that were registered before, at servers that compare
   * addresses exactly.
   */
  readonly ports?: readonly number[] | undefined
  /** The path of the redirect URI. Default `/callback`. */
  readonly path?: string | undefined
  /** Opens the address in a browser. Default {@link openBrowser}. */
  readonly open?: ((url: URL) => void | Promise<void>) | undefined
  /** Shows the address, for a machine without a browser. Default: a line on standard error. */
  readonly showLoginUrl?: ((url: URL) => void) | undefined
}

const loopbackAddress = '127.0.0.1'

/** Receives one response of a login on the loopback address of this machine (RFC 8252). */
export function loopbackRedirect(options: LoopbackRedirectOptions = {}): Redirect {
  const { ports = [], path = '/callback', open = openBrowser, showLoginUrl = printLoginUrl } = options
  return {
    applicationType: 'native',
    open: async (signal, { registeredUris = [] }: Partial<RedirectOptions> = {}): Promise<RedirectListener> => {
      signal.throwIfAborted()
      const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 })
      const toUri = (port: number): string => `http://${loopbackAddress}:${port}${path}`
      const registeredPorts = registeredUris.map((uri) => (URL.canParse(uri) ? Number(new URL(uri).port) : 0))
      const reusablePorts = registeredPorts.filter((port) => port > 0 && registeredUris.includes(toUri(port)))
      const port = await listenOnFirstFreePort(server, ports.length > 0 ? ports : [...reusablePorts, 0])
      return {
        uri: toUri(port),
        // Some servers compare addresses exactly, others allow every port of the address without one (RFC 8252).
        registeredUris: ports.length > 0 ? ports.map(toUri) : [`http://${loopbackAddress}${path}`, toUri(port)],
        visit: async (url, state) => {
          const redirectUrlPromise = waitForRedirect(server, { port, path, state, signal })
          showLoginUrl(url)
          // Without a browser the person has the address.
          await Promise.resolve(open(url)).catch(() => undefined)
          return redirectUrlPromise
        },
        close: async () => {
          server.closeAllConnections()
          await new Promise<void>((resolve) => server.close(() => resolve()))
        },
      }
    },
  }
}

function printLoginUrl(url: URL): void {
  process.stderr.write(`To log in, visit ${url.href}\n`)
}

async function listenOnFirstFreePort(server: Server, ports: readonly number[]): Promise<number> {
  let failure: unknown
  for (const port of ports) {
    try {
      return await listenOnPort(server, port)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function listenOnPort(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, loopbackAddress, () => {
      server.off('error', reject)
      const serverAddress = server.address()
      resolve(typeof serverAddress === 'object' && serverAddress !== null ? serverAddress.port : port)
    })
  })
}

interface ExpectedRedirect {
  readonly port: number
  readonly path: string
  readonly state: string
  readonly signal: AbortSignal
}

/** Waits for the response with the state of this login. Requests of other pages on this machine end nothing. */
function waitForRedirect(server: Server, expectedRedirect: ExpectedRedirect): Promise<URL> {
  return new Promise((resolve, reject) => {
    const rejectOnAbort = (): void => reject(expectedRedirect.signal.reason)
    if (expectedRedirect.signal.aborted) return rejectOnAbort()
    expectedRedirect.signal.addEventListener('abort', rejectOnAbort, { once: true })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const url = parseLoginRedirect(request, expectedRedirect)
      if (url === undefined) return sendPage(response, 404, 'There is nothing here.')
      expectedRedirect.signal.removeEventListener('abort', rejectOnAbort)
      sendPage(response, 200, 'The response has arrived. You can close this page and return to the program.')
      // The listener closes with the login: the person sees the page first.
      response.once('close', () => resolve(url))
    })
  })
}

function parseLoginRedirect(
  { method, headers, url = '' }: IncomingMessage,
  expectedRedirect: ExpectedRedirect,
): URL | undefined {
  const host = `${loopbackAddress}:${expectedRedirect.port}`
  if (method !== 'GET' || headers.host !== host || !url.startsWith('/')) return undefined
  const redirectUrl = new URL(`http://${host}${url}`)
  const isExpectedRedirect =
    redirectUrl.pathname === expectedRedirect.path && redirectUrl.searchParams.get('state') === expectedRedirect.state
  return isExpectedRedirect ? redirectUrl : undefined
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  })
  response.end(`<!doctype html><meta charset="utf-8"><title>Login</title><p>${text}</p>\n`)
}

/**
 * Opens an https address, or one of this machine, in the person's browser. The address is one argument of a program,
 * and no shell reads it. Rejects when there is no such program. Throws a `TypeError` for an address of another kind.
 */
export async function openBrowser(url: URL): Promise<void> {
  if (!isSecureUrl(url)) {
    throw new TypeError(`Only https addresses are opened, not ${url.protocol}`)
  }
  const [program, ...args] = openCommands[process.platform] ?? ['xdg-open']
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, [...args, url.href], { stdio: 'ignore', detached: true, shell: false })
    child.once('error', reject)
    child.once('spawn', () => {
      child.unref()
      resolve()
    })
  })
}

const openCommands: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}
