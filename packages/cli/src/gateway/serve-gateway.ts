import { gateway } from '@x/gateway'
import { serveHttp } from '@x/transport-http/node'
import { type ExitCode, waitForListening } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { readSettings } from './read-settings.ts'
import { startOpenTelemetrySdk } from './start-telemetry.ts'

/** Starts a gateway, which continues after this function until the process is stopped. */
export async function startGateway(
  { io, printer }: CommandContext,
  { config }: { readonly config: string },
): Promise<ExitCode> {
  const { gateway: options, http } = await readSettings(config, io)
  const extensions = [...(await startOpenTelemetrySdk(io, options)), ...(options.extensions ?? [])]
  const { url } = await waitForListening(serveHttp(gateway({ ...options, extensions }), http), 'listen.port')
  printer.result({ url }, url)
  return 0
}
