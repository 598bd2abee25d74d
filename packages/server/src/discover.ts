import type { JsonObject, RequestParams } from '@x/schema'
import type { Scope } from './request/scope.ts'

/** Says what the server speaks, has and is (server/discover). */
export function discover(_params: RequestParams, { catalog }: Scope): JsonObject {
  return catalog.discovery
}
