import { createCall, errorCodes, metaKeys, protocolVersion, type RpcRequest, type RpcResponse } from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import type { ClientConnection } from './client-connection.ts'

const discoverRequest: RpcRequest = {
  jsonrpc: '2.0',
  id: 0,
  method: 'server/discover',
  params: { _meta: { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} } },
}

/**
 * Checks that a new process speaks this protocol revision, before any request that an older server would misread
 * (basic/transports/stdio, backward compatibility). A server of another revision that answers `server/discover` passes.
 * Rejects with {@link StdioError} `probe`, or the reason of the signal.
 */
export async function probeServer(link: ClientConnection, command: string, signal: AbortSignal): Promise<void> {
  const response = await link.send(discoverRequest, createCall({ signal }))
  if (supportsDiscover(response)) return
  const answered = 'error' in response ? `the error ${response.error.code}` : 'another result'
  const message = `${command} answered server/discover with ${answered}: it speaks a revision before ${protocolVersion}`
  throw new StdioError('probe', message)
}

function supportsDiscover(response: RpcResponse): boolean {
  if ('error' in response) return response.error.code === errorCodes.unsupportedProtocolVersion
  return Array.isArray(response.result['supportedVersions'])
}
