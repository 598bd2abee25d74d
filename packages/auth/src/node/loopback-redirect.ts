import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { codeOf, isSecureUrl, keepProcessWithoutStderr } from '@x/core'
import type { Redirect, RedirectListener, RedirectOptions } from '../client/code-flow.ts'

/** Options of {@link loopbackRedirect}. */
export interface LoopbackRedirectOptions {
  /**
   * Ports to try; the first free one is used. Default: the port of the client's registration, else any free one.
   * Clients that register themselves need no list. Set one if the client was registered before, at a server that
   * compares redirect URIs exactly.
   */
  readonly ports?: readonly number[] | undefined
  /** Path of the redirect URI. Default: `/callback`. */
  readonly path?: string | undefined
  /** Opens the login URL in a browser. Default: {@link openBrowser}. */
  readonly open?: ((url: URL) => unknown) | undefined
  /**
   * Shows the login URL, for a machine without a browser. `addedScopes` are those that a call needs beyond an earlier
   * login. By default both are printed to standard error.
   */
  readonly showLoginUrl?: ((url: URL, addedScopes: readonly string[]) => void) | undefined
}

const loopbackAddress = '127.0.0.1'

/**
 * Takes a login through a program: a server on a loopback address of this machine receives the response (RFC 8252).
 *
 * @throws TypeError for a `path` that is no path of a URL.
 */
export function loopbackRedirect(options: LoopbackRedirectOptions = {}): Redirect {
  const { ports = [], path = '/callback', open = openBrowser, showLoginUrl = printLoginUrl } = options
  checkPath(path)
  return {
    applicationType: 'native',
    ...(options.showLoginUrl === undefined && { showWait: printLine }),
    open: async (signal, options: Partial<RedirectOptions> = {}): Promise<RedirectListener> => {
      const { registeredUris = [], addedScopes = [] } = options
      signal.throwIfAborted()
      const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 })
      const toUri = (port: number): string => `http://${loopbackAddress}:${port}${path}`
      const registeredPorts = registeredUris.map((uri) => (URL.canParse(uri) ? Number(new URL(uri).port) : 0))
      const reusablePorts = registeredPorts.filter((port) => port > 0 && registeredUris.includes(toUri(port)))
      const port = await listenOnFirstFreePort(server, ports.length > 0 ? ports : [...reusablePorts, 0])
      return {
        uri: toUri(port),
        // Some servers compare redirect URIs exactly. Others accept any port if the registered URI has none (RFC 8252).
        registeredUris: ports.length > 0 ? ports.map(toUri) : [`http://${loopbackAddress}${path}`, toUri(port)],
        visit: async (url, state) => {
          const redirectUrlPromise = waitForRedirect(server, signal, (request) =>
            parseLoginRedirect(request, { port, path, state }),
          )
          const shownPromise = (async () => showLoginUrl(url, addedScopes))()
          // Without a browser, the person still has the printed URL.
          const openedPromise = (async () => open(url))().catch(() => undefined)
          return Promise.race([
            redirectUrlPromise,
            Promise.all([shownPromise, openedPromise]).then(() => redirectUrlPromise),
          ])
        },
        close: async () => {
          server.closeAllConnections()
          await new Promise<void>((resolve) => server.close(() => resolve()))
        },
      }
    },
  }
}

/** The response would never arrive at any other text, such as one without a slash at its start, or with a query. */
function checkPath(path: string): void {
  const origin = `http://${loopbackAddress}`
  if (URL.canParse(path, origin) && new URL(path, origin).pathname === path) return
  throw new TypeError(`path is ${JSON.stringify(path)}: write the path of a URL, such as "/callback"`)
}

function printLoginUrl(url: URL, addedScopes: readonly string[]): void {
  const purpose = addedScopes.length === 0 ? 'log in' : `grant ${addedScopes.join(' ')}, which the call needs`
  printLine(`To ${purpose}, visit ${url.href}`)
}

function printLine(line: string): void {
  keepProcessWithoutStderr()
  process.stderr.write(`${line}\n`)
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
  if (codeOf(failure) !== 'EADDRINUSE') throw failure
  const message = `Other programs use all ports of loopbackRedirect (${ports.join(', ')}): end one, or add a port to ports`
  throw new Error(message, { cause: failure })
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

/** `parseRedirect` returns undefined for other requests, such as that of a browser for an icon. */
function waitForRedirect(
  server: Server,
  signal: AbortSignal,
  parseRedirect: (request: IncomingMessage) => URL | undefined,
): Promise<URL> {
  return new Promise((resolve, reject) => {
    const rejectOnAbort = (): void => reject(signal.reason)
    if (signal.aborted) return rejectOnAbort()
    signal.addEventListener('abort', rejectOnAbort, { once: true })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const url = parseRedirect(request)
      if (url === undefined) return sendPage(response, 404, 'There is nothing here.')
      signal.removeEventListener('abort', rejectOnAbort)
      sendPage(response, 200, `${describeAnswer(url)} You can close this page and return to the program.`)
      // Finishing the login closes this server, so the response goes out first.
      response.once('close', () => resolve(url))
    })
  })
}

function parseLoginRedirect(
  { method, headers, url = '' }: IncomingMessage,
  { port, path, state }: { readonly port: number; readonly path: string; readonly state: string },
): URL | undefined {
  const host = `${loopbackAddress}:${port}`
  if (method !== 'GET' || headers.host !== host || !url.startsWith('/')) return undefined
  const redirectUrl = new URL(`http://${host}${url}`)
  const isExpected = redirectUrl.pathname === path && redirectUrl.searchParams.get('state') === state
  return isExpected ? redirectUrl : undefined
}

/** No part of the answer is shown, because any page could have sent the browser here. */
function describeAnswer({ searchParams }: URL): string {
  if (!searchParams.has('error')) return 'The response has arrived.'
  return searchParams.get('error') === 'access_denied' ? 'The login was refused.' : 'The login has failed.'
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
 * Opens a URL in the person's browser. It must be https or on this machine, and is passed as one argument to a program,
 * not through a shell. Rejects if the program that opens URLs does not exist, and with a `TypeError` for any other URL.
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
