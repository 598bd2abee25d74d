import { checkArgument, checkedNumber, maxTimerMs, resolveOptions } from '@x/core'
import { protocolVersion } from '@x/schema'
import { legacyRevisions } from '../translate/revisions.ts'
import { type ConnectionOptions, StatefulConnection } from './connection/connection.ts'
import {
  type AnyConnection,
  type ConnectAnyOptions,
  connectAnyOptionTable,
  createSettings,
  type HttpOptions,
  type ResolvedConnectAnyOptions,
} from './options.ts'
import type { StdioTransport } from './stdio/stdio-transport.ts'
import { type ParsedTarget, parseTarget, type ServerTarget } from './target.ts'

/** For a process's first answer. A package runner such as `npx` may download the program first. */
// limit: `handshakeTimeoutMs` of `connectAny`, of a command | ms | the first answer of a command, after its
//   `initialize` | the process is replaced
const defaultStartTimeoutMs = 60_000

/**
 * Connects for {@link connectAny}. `loadStdio` loads the stdio transport when it is needed, and is undefined on a
 * platform that cannot start processes.
 */
export function connectTarget(
  target: ServerTarget,
  options: ConnectAnyOptions,
  loadStdio: (() => Promise<{ readonly StdioTransport: typeof StdioTransport }>) | undefined,
): AnyConnection {
  const resolved = resolveOptions(options, connectAnyOptionTable, 'connectAny')
  const { detectedRevisions, runtime: clock, handshakeTimeoutMs: givenMs } = resolved
  if (givenMs !== undefined) checkedNumber('handshakeTimeoutMs', givenMs, { max: maxTimerMs })
  if (typeof target !== 'string')
    checkArgument(target, { where: 'connectAny', takes: 'a URL, or an object with a command' })
  const parsedTarget = parseTarget(target)
  const shared = { ...revisionSettings(resolved), detectedRevisions, clock, settings: createSettings(resolved) }
  if (parsedTarget.transport === 'http') {
    const { url } = parsedTarget
    const address = url.origin + url.pathname
    const httpOptions = withEntryHeaders(parsedTarget, resolved.http)
    return new StatefulConnection({
      ...shared,
      url: address,
      serverKey: address,
      canMixPrincipals: typeof httpOptions.headers === 'function',
      loadTransport: async () => {
        const loading = import('./http/http-transport.ts')
        const { createHttpTransport } = await loading.catch(explainMissing('@x/transport-http'))
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
  const { stdio = {}, probeTimeoutMs, handshakeTimeoutMs = defaultStartTimeoutMs } = resolved
  return new StatefulConnection({
    ...shared,
    settings: { ...shared.settings, handshakeTimeoutMs },
    // Only the program's name, because arguments may contain secrets.
    url: `stdio:${entry.command.split(/[\\/]/).at(-1)}`,
    serverKey: [entry.command, ...(entry.args ?? [])].join(' '),
    canMixPrincipals: false,
    loadTransport: async (onEnd) => {
      const module = await loadStdio().catch(explainMissing('@x/transport-stdio'))
      const { log } = shared.settings
      return new module.StdioTransport({ entry, options: stdio, clock, probeTimeoutMs, log, onEnd })
    },
  })
}

/** Splits the option `revision` into what is known of the server, and the revisions that `initialize` may agree on. */
function revisionSettings({
  revision,
}: Pick<ResolvedConnectAnyOptions, 'revision'>): Pick<ConnectionOptions, 'revision' | 'sessionRevisions'> {
  if (revision === 'probe' || revision === 'older' || revision === protocolVersion)
    return { revision, sessionRevisions: legacyRevisions }
  if (legacyRevisions.includes(revision)) return { revision: 'older', sessionRevisions: [revision] }
  const known = ['probe', 'older', protocolVersion, ...legacyRevisions].join(', ')
  throw new TypeError(`connectAny: the revision "${String(revision)}" is unknown; known are ${known}`)
}

/** Names the package to install. Transports are optional packages, because a host needs only those that it uses. */
function explainMissing(packageName: string): (cause: unknown) => never {
  return (cause) => {
    throw new Error(`${packageName} could not be loaded: install it beside @x/legacy`, { cause })
  }
}

/** Adds an entry's headers to those of the options, which win for the same name. */
function withEntryHeaders(
  { headers: entryHeaders }: ParsedTarget & { readonly transport: 'http' },
  options: HttpOptions = {},
): HttpOptions {
  const { headers = {} } = options
  if (typeof headers !== 'function') return { ...options, headers: { ...entryHeaders, ...headers } }
  if (Object.keys(entryHeaders).length === 0) return options
  return { ...options, headers: async (request) => ({ ...entryHeaders, ...(await headers(request)) }) }
}
