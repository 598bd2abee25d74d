import type { JsonObject, RequestParams } from '@x/schema'
import type { Scope } from './request/scope.ts'

/** Returns the revisions, capabilities and instructions of the server (server/discover). */
export function discover(_params: RequestParams, { catalog }: Scope): JsonObject {
  return catalog.discovery
}
