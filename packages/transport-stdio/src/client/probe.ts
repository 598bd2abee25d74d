import { errorCodes, metaKeys, protocolVersion, type RpcRequest, type RpcResponse } from '@x/schema'
import { StdioError } from '../stdio-error.ts'
import type { Link } from './link.ts'

const request: RpcRequest = {
  jsonrpc: '2.0',
  id: 0,
  method: 'server/discover',
  params: { _meta: { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} } },
}

/**
 * Asks a fresh process whether it speaks this revision's protocol, before anything is sent that an older server would take
 * for something else (basic/transports/stdio, backward compatibility). A server that knows the question and another
 * revision is a modern one. Rejects with {@link StdioError} `probe`, or the reason of the signal.
 */
export async function probe(link: Link, command: string, signal: AbortSignal): Promise<void> {
  const response = await link.send(request, { signal, notify: () => {} })
  if (isModern(response)) return
  const told = 'error' in response ? `the error ${response.error.code}` : 'another result'
  const message = `${command} answered server/discover with ${told}: it speaks a revision before ${protocolVersion}`
  throw new StdioError('probe', message)
}

function isModern(response: RpcResponse): boolean {
  if ('error' in response) return response.error.code === errorCodes.unsupportedProtocolVersion
  return Array.isArray(response.result['supportedVersions'])
}
