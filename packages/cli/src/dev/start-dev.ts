import { once } from 'node:events'
import { relative } from 'node:path'
import { CliError, type ExitCode, waitForListening } from '../cli-error.ts'
import type { HttpAuthorizer } from '@x/exchange'
import type { CommandContext } from '../command.ts'
import type { Printer } from '../output/printer.ts'
import { toDisplayText } from '../terminal/display-text.ts'
import type { DevEvent, ServerState } from './events.ts'
import { openDevServer } from './dev-server.ts'
import type { DevServer, ServeDevOptions } from './dev-options.ts'

export interface DevCommandOptions {
  readonly port?: number
  readonly watch?: readonly string[]
  readonly instances?: number
  readonly token?: string
  readonly as?: string
  readonly hosts: boolean
  readonly open: boolean
}

/** Serves the page of a server until the user presses Ctrl-C. */
export async function startDev(
  context: CommandContext,
  options: DevCommandOptions,
  [target = '']: readonly string[],
): Promise<ExitCode> {
  const { io, printer } = context
  const serveOptions = await toServeOptions(options)
  const dev = await waitForListening(openDevServer({ ...serveOptions, target, env: io.env }), '--port')
  printAddresses(printer, dev)
  const print = (event: DevEvent): void => {
    if (event.type === 'login') printLogin(event, context, dev.log.events)
    const text = event.type === 'server' && !printer.isJson ? describeState(event.server) : undefined
    if (text !== undefined) printer.line(toDisplayText(text))
  }
  // The server may have been faster than the page.
  for (const event of dev.log.events) print(event)
  const unsubscribe = dev.log.subscribe(print)
  if (options.open && io.output.isTTY === true) await openPage(dev.pageUrl).catch(() => {})
  if (!io.signal.aborted) await once(io.signal, 'abort')
  unsubscribe()
  await dev.close()
  return 0
}

/** A server that is not ready says where to log in itself, but not in JSON. */
function printLogin(
  { url, addedScopes = [] }: Extract<DevEvent, { readonly type: 'login' }>,
  { io, printer }: CommandContext,
  events: readonly DevEvent[],
): void {
  const isShown = events.some((event) => event.type === 'server' && event.server.status === 'login_needed')
  if (url === undefined || (isShown && !printer.isJson)) return
  const purpose = addedScopes.length === 0 ? 'log in' : `grant ${addedScopes.join(' ')}, which a call needs`
  const text = toDisplayText(`To ${purpose}, visit ${url}`)
  if (printer.isJson) io.errorOutput.write(`${text}\n`)
  else printer.line(text)
}

async function openPage(url: string): Promise<void> {
  const { openBrowser } = await import('@x/auth/node')
  await openBrowser(new URL(url))
}

async function toServeOptions({
  port,
  watch,
  instances,
  token,
  as: other,
  hosts,
}: DevCommandOptions): Promise<Omit<ServeDevOptions, 'target'>> {
  return {
    hosts,
    otherToken: other === undefined ? undefined : tokenOf(other),
    ...(token !== undefined && { http: { auth: await loadAuthorizer(token) } }),
    ...(port !== undefined && { port }),
    ...(watch !== undefined && { watch }),
    ...(instances !== undefined && { instances }),
  }
}

/** Most servers are programs without a token, and start sooner without this module. */
async function loadAuthorizer(token: string): Promise<HttpAuthorizer> {
  const { createTokenAuthorizer } = await import('../calls/given-token.ts')
  return createTokenAuthorizer(token)
}

function printAddresses(printer: Printer, { pageUrl, hostUrl }: DevServer): void {
  if (printer.isJson) return printer.json({ page: pageUrl, ...(hostUrl !== undefined && { hosts: hostUrl }) })
  printer.line(`page   ${pageUrl}`)
  if (hostUrl !== undefined) printer.line(`hosts  ${hostUrl}   claude mcp add --transport http dev ${hostUrl}`)
}

/** In `--as ada=TOKEN`, the name of the second user is for the reader of the command line. */
function tokenOf(text: string): string {
  const [, token] = /^[^=]+=(.+)$/s.exec(text) ?? []
  if (token === undefined) throw new CliError('usage', 'Write --as NAME=TOKEN')
  return token
}

function describeState(server: ServerState): string | undefined {
  const { status, reason } = server
  if (status === 'ended' || status === 'silent') return `${status}: ${reason}`
  return status === 'ready' ? describeReady(server) : reason
}

function describeReady({ name, pids, startMs = 0, notice, watched }: ServerState): string {
  const warning = notice === undefined ? '' : `\n${notice}`
  const process = pids.length === 0 ? '' : ` in ${pids.length === 1 ? 'process' : 'processes'} ${pids.join(', ')}`
  const watching =
    watched.length === 0 ? '' : `, watching ${watched.map((folder) => relative('', folder) || '.').join(', ')}`
  return `${name ?? 'The server'}${process}, ready after ${(startMs / 1000).toFixed(1)} s${watching}${warning}`
}
