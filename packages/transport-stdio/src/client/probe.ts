import {
  createCall,
  discoverProbe,
  supportsDiscover,
  olderInitializeRequest,
  olderRevisionIn,
  olderServerMessage,
} from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import type { ClientConnection } from './client-connection.ts'

/**
 * Checks that a new process speaks this protocol revision, before any request that an older server would misread
 * (basic/transports/stdio, backward compatibility). A server of another revision that answers `server/discover` passes;
 * any other one is asked for its revision. Rejects with {@link StdioError} `unsupported_version`, or the reason of the
 * signal.
 */
export async function probeServer(link: ClientConnection, command: string, signal: AbortSignal): Promise<void> {
  const call = createCall({ signal })
  if (supportsDiscover(await link.send(discoverProbe, call))) return
  const message = olderServerMessage(olderRevisionIn(await link.send({ ...olderInitializeRequest, id: 1 }, call)))
  const advice = 'connectDualStdio of @x/legacy/stdio-client speaks both'
  throw new StdioError('unsupported_version', `${command}: ${message}; ${advice}`)
}
