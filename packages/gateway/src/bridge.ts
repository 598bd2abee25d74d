import { checkArgument, optionTypes, resolveOptions, type OptionTable, type Log } from '@x/core'
import { legacy } from '@x/legacy'
import { type CommandEntry, connectAny } from '@x/legacy/client'
import type { AsyncResource } from '@x/exchange'
import type { HttpAuthorizer } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import { proxy } from './gateway/proxy.ts'
import { findAddressProblem } from './hop/address.ts'
import { createPersonLogin } from './hop/person-login.ts'

/** Lets a host over stdio use a server at a URL. */
export interface BridgeToStdio {
  /** The server's URL: `https:`, or `http:` on this machine. */
  readonly toStdio: string | URL
  /** Headers of every request to the server. With `Authorization`, the bridge starts no login. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Authorizes the requests to the server. Default: a person logs in with a browser when the server requires it, and
   * all processes of that person share the tokens.
   */
  readonly auth?: HttpAuthorizer | undefined
  /** Default: writes lines to the standard error. */
  readonly log?: Log | undefined
}

/** Lets hosts over HTTP use a server that is a program. Each host has processes of its own. */
export interface BridgeToHttp extends CommandEntry {
  /** Port on this machine. 0 selects a free one. */
  readonly toHttp: number
  /** Default: writes lines to the standard error. */
  readonly log?: Log | undefined
}

/** A running bridge. */
export interface Bridge extends AsyncResource {
  /** For hosts over HTTP. Undefined for a bridge to stdio. */
  readonly url: string | undefined
  /** Ends the bridge, its connections and its processes. */
  close(): Promise<void>
}

const stdioOptionTable = {
  toStdio: undefined,
  headers: { type: optionTypes.texts },
  auth: { type: optionTypes.object },
  log: { type: optionTypes.function },
} satisfies OptionTable<BridgeToStdio>
const httpOptionTable = {
  toHttp: undefined,
  type: undefined,
  command: { type: optionTypes.string },
  args: { type: optionTypes.strings },
  env: { type: optionTypes.object },
  cwd: undefined,
  log: { type: optionTypes.function },
} satisfies OptionTable<BridgeToHttp>

/**
 * Lets a host over stdio use a server at a URL, or hosts over HTTP a server that is a program. Both sides may speak any
 * revision. A bridge to stdio serves stdin and stdout of this process, and ends with them.
 *
 * @example
 * await bridge({ toStdio: 'https://mcp.example.com/mcp' })
 * await bridge({ toHttp: 3000, command: 'npx', args: ['-y', 'some-server'] })
 *
 * @throws TypeError for an unknown option, or a URL that is neither `https:` nor on this machine.
 */
export async function bridge(options: BridgeToStdio | BridgeToHttp): Promise<Bridge> {
  checkArgument(options, { where: 'bridge', takes: 'an object with toStdio or toHttp' })
  return 'toStdio' in options ? bridgeToStdio(options) : bridgeToHttp(options)
}

const clientName = 'mcp-bridge'

function bridgeToStdio(options: BridgeToStdio): Bridge {
  resolveOptions(options, stdioOptionTable, 'bridge')
  const { toStdio, headers = {}, log } = options
  const url = new URL(toStdio)
  const problem = findAddressProblem(url)
  if (problem !== undefined) throw new TypeError(problem)
  const hasAuthorization = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  const auth = options.auth ?? (hasAuthorization ? undefined : createPersonLogin(clientName))
  const upstream = { connect: () => connectAny(url, { log, http: { headers, auth } }) }
  const server = proxy(upstream, { name: url.hostname, version, log, extensions: [legacy()] })
  const service = serveStdio(server)
  return { url: undefined, close: () => service.close(), [Symbol.asyncDispose]: () => service.close() }
}

async function bridgeToHttp(options: BridgeToHttp): Promise<Bridge> {
  resolveOptions(options, httpOptionTable, 'bridge')
  const { toHttp, log, ...entry } = options
  const stderr = (line: string): void => void process.stderr.write(`${line}\n`)
  const upstream = { connect: () => connectAny(entry, { log, stdio: { stderr } }) }
  const name = entry.command.split(/[\\/]/).at(-1) ?? entry.command
  const server = proxy(upstream, { name, version, log, extensions: [legacy()] })
  const http = await serveHttp(server, { port: toHttp, stopOnSignals: true })
  return { url: http.url, close: () => http.close(), [Symbol.asyncDispose]: () => http.close() }
}

/** Hosts see the name and the version of the server behind the bridge, not this one. */
const version = '1.0.0'
