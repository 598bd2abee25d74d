import { type GatewaySettings, isGatewayFileError, readGatewayFile } from '@x/gateway/node'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'

/** Throws a `CliError` with all problems of a file that cannot be used. */
export async function readSettings(path: string, { env }: CliIo): Promise<GatewaySettings> {
  try {
    return await readGatewayFile(path, env)
  } catch (cause) {
    const isOfFile = isGatewayFileError(cause) || (cause instanceof Error && 'code' in cause)
    if (!isOfFile) throw cause
    throw new CliError('usage', cause.message, { cause })
  }
}
