import type { JsonObject, RequestParams } from '@x/schema'
import type { RequestState } from '../replay/served-request.ts'

/** Returns the revisions, capabilities and instructions of the server (server/discover). */
export function discover(_params: RequestParams, { catalog }: RequestState): JsonObject {
  return catalog.discovery
}
