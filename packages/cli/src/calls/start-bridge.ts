import { type Bridge, bridge } from '@x/gateway/node'
import { CliError, type ExitCode, waitForListening } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import type { TargetOptions } from './connect-target.ts'
import { createTokenAuthorizer } from './given-token.ts'
import { parseTargetText } from './target.ts'

export interface BridgeCommandOptions extends TargetOptions {
  readonly port?: number
}

/**
 * Starts a bridge, which continues after this function: over stdio until the host closes its streams, and over HTTP
 * until the process is stopped.
 */
export async function startBridge(
  { printer }: CommandContext,
  options: BridgeCommandOptions,
  [target = '']: readonly string[],
): Promise<ExitCode> {
  const { url } = await openBridge(target, options)
  if (url === undefined) return 0
  printer.result({ url }, url)
  return 0
}

function openBridge(text: string, { port, token }: BridgeCommandOptions): Promise<Bridge> {
  const target = parseTargetText(text)
  if (target instanceof URL) {
    if (port !== undefined) throw new CliError('usage', '--port is for a server that is a command, and not a URL')
    return bridge({ toStdio: target, auth: token === undefined ? undefined : createTokenAuthorizer(token) })
  }
  if (port === undefined)
    throw new CliError('usage', 'Write --port for a server that is a command; 0 selects a free one')
  return waitForListening(bridge({ toHttp: port, ...target }), '--port')
}
