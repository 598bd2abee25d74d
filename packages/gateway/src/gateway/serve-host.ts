import { errorRecord, isCancelled, isLimitError, quoteText } from '@x/core'
import { limitErrorToMcp } from '@x/exchange'
import {
  errorCodes,
  errorResponse,
  findMethodRow,
  isMcpError,
  McpError,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { findRevisionError, readRequestMeta } from '@x/exchange/internal'
import { mergeDescriptions } from './discover.ts'
import { closedError } from '../hop/upstream-error.ts'
import { listenToUpstreams } from './listen.ts'
import { mergedLists, mergeList } from './lists.ts'
import type { HostRequest } from './host-request.ts'
import { routeCall, succeed, withServerInfo } from './route-call.ts'
import { routes } from './routes.ts'

/** Answers a request, and converts errors into their wire form. */
export async function serveHost(host: HostRequest): Promise<RpcResponse> {
  const { request, call, parts } = host
  try {
    if (parts.closed.aborted) throw closedError(`Gateway ${quoteText(parts.info.name)}`)
    checkHostRequest(request)
    return await answer(host)
  } catch (error) {
    if (isCancelled(call)) throw call.signal.reason
    if (isLimitError(error)) return errorResponse(request.id, limitErrorToMcp(error))
    if (!isMcpError(error)) parts.log(errorRecord(error, { method: request.method }))
    return errorResponse(request.id, error)
  }
}

async function answer(host: HostRequest): Promise<RpcResponse> {
  const { request } = host
  const route = routes.get(request.method)
  if (route !== undefined) return routeCall(route, host)
  const list = mergedLists.get(request.method)
  if (list !== undefined) return succeed(request, complete(await mergeList(list, host), host))
  const row = findMethodRow(request.method)
  if (row?.isStreaming === true) return listenToUpstreams(host)
  // One method of the protocol is left, and it describes the server.
  if (row !== undefined) return succeed(request, complete(await mergeDescriptions(host), host, true))
  throw new McpError(errorCodes.methodNotFound, `Method ${quoteText(request.method)} is not served`)
}

function complete(result: object, host: HostRequest, isDescription = false): ReturnType<typeof withServerInfo> {
  return withServerInfo({ resultType: 'complete', ...result }, host, isDescription)
}

/** The connection to an older upstream does not look at the revision of a request, because it has another one anyway. */
export function checkRevision(request: RpcRequest): void {
  const olderRevisionError = findRevisionError(request)
  if (olderRevisionError !== undefined) throw olderRevisionError
  readRequestMeta(request)
}

/** Checks the params that the gateway reads. The rest is up to the upstream, and may be an extension's. */
function checkHostRequest(request: RpcRequest): void {
  checkRevision(request)
  findMethodRow(request.method)?.params(request.params)
}
