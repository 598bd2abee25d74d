import { checkOptions, platformRuntime } from '@x/core'
import { createConnection } from './connection/connection.ts'
import type { Transport } from './connection/transport.ts'
import {
  type AnyConnection,
  type ConnectAnyOptions,
  connectAnyOptionNames,
  type HttpOptions,
  resolveSettings,
} from './options.ts'
import type { StdioTransportOptions } from './stdio/stdio-transport.ts'
import { type ParsedTarget, parseTarget, type ServerTarget } from './target.ts'

/** Loads the transport of a command. */
export type LoadStdio = (options: StdioTransportOptions) => Promise<Transport>

const defaultProbeTimeoutMs = 5000

/** Creates the connection of {@link connectAny}. A platform without processes gives no `loadStdio`. */
export function connectTarget(
  target: ServerTarget,
  options: ConnectAnyOptions,
  loadStdio: LoadStdio | undefined,
): AnyConnection {
  checkOptions(options, connectAnyOptionNames, 'connectAny')
  const parsedTarget = parseTarget(target)
  const { era = 'probe', detectedRevisions, runtime: clock = platformRuntime } = options
  const shared = { era, detectedRevisions, clock, settings: resolveSettings(options) }
  if (parsedTarget.transport === 'http') {
    const { url } = parsedTarget
    const address = url.origin + url.pathname
    const httpOptions = withEntryHeaders(parsedTarget, options.http)
    return createConnection({
      ...shared,
      url: address,
      serverKey: address,
      canMixPrincipals: typeof httpOptions.headers === 'function',
      loadTransport: async () => {
        const { createHttpTransport } = await import('./http/http-transport.ts')
        return createHttpTransport(url, httpOptions, clock)
      },
    })
  }
  const { entry } = parsedTarget
  if (loadStdio === undefined) {
    throw new TypeError(
      `${entry.command} is a command, and this platform starts no processes: connect to a URL, or run this program on Node`,
    )
  }
  const { stdio = {}, probeTimeoutMs = defaultProbeTimeoutMs } = options
  return createConnection({
    ...shared,
    // Arguments may hold secrets.
    url: `stdio:${entry.command.split(/[\\/]/).at(-1)}`,
    serverKey: [entry.command, ...(entry.args ?? [])].join(' '),
    canMixPrincipals: false,
    loadTransport: (onEnd) =>
      loadStdio({ entry, options: stdio, clock, probeTimeoutMs, log: shared.settings.log, onEnd }),
  })
}

/** Adds the headers of an entry to those of the options, which win. */
function withEntryHeaders(
  { headers: entryHeaders }: ParsedTarget & { readonly transport: 'http' },
  options: HttpOptions = {},
): HttpOptions {
  const { headers = {} } = options
  if (typeof headers !== 'function') return { ...options, headers: { ...entryHeaders, ...headers } }
  if (Object.keys(entryHeaders).length === 0) return options
  return { ...options, headers: async (request) => ({ ...entryHeaders, ...(await headers(request)) }) }
}
