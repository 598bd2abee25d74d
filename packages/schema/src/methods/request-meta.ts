import * as check from './checks.ts'
import { implementation } from './check-content.ts'
import { errorCodes, McpError } from '../basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import type { RequestMetaObject } from '../basic/meta.ts'
import { metaKeys } from '../basic/meta-keys.ts'

const optionalObject = check.optional(check.object)
const settings = check.optional(check.members(check.object))

const clientCapabilitiesCheck = check.fields({
  elicitation: check.optional(check.fields({ form: optionalObject, url: optionalObject })),
  experimental: settings,
  extensions: settings,
  roots: optionalObject,
  sampling: check.optional(check.fields({ context: optionalObject, tools: optionalObject })),
})

const logLevelCheck = check.oneOf('debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency')

/** The `_meta` of every request (basic/index, per-request protocol fields). */
export const requestMetaCheck: check.Check = check.fields({
  [metaKeys.protocolVersion]: check.string,
  [metaKeys.clientCapabilities]: clientCapabilitiesCheck,
  [metaKeys.clientInfo]: check.optional(implementation),
  [metaKeys.logLevel]: check.optional(logLevelCheck),
  [metaKeys.progressToken]: check.optional(check.stringOrInteger),
})

/**
 * Returns the checked `_meta` of a request's params: version and capabilities are present, and the other reserved keys
 * are well-formed (basic/index, per-request protocol fields). Throws `McpError(invalidParams)` that names the path.
 */
export function requestMeta(params: JsonObject | undefined): RequestMetaObject {
  const meta = params?.['_meta']
  const failure = requestMetaCheck(meta)
  if (failure !== undefined) throw invalidParamsError(check.prefixFailurePath(failure, '_meta'))
  // The check above covers every member that the type names.
  return meta as RequestMetaObject
}

/** Creates the error for a failed check of params. */
export function invalidParamsError({ path, expected, got }: check.Failure): McpError {
  return new McpError(errorCodes.invalidParams, `params${path} must be ${expected}, got ${got}`)
}
