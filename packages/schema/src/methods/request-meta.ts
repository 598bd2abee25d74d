import { type Failure, prefixFailurePath } from '../basic/failure.ts'
import { checkOf } from '../basic/shape.ts'
import { errorCodes, McpError } from '../basic/mcp-error.ts'
import type { JsonObject } from '@x/core'
import { type RequestMetaObject, requestMetaObject } from '../basic/meta.ts'

/** Checks the `_meta` of every request (basic/index, per-request protocol fields). */
const requestMetaCheck = checkOf(requestMetaObject, 'shallow')

/**
 * Returns the checked `_meta` of a request's params: version and capabilities are present, and the other reserved keys
 * are well-formed (basic/index, per-request protocol fields). Throws `McpError(invalidParams)` that names the path.
 */
export function requestMeta(params: JsonObject | undefined): RequestMetaObject {
  const meta = params?.['_meta']
  const failure = requestMetaCheck(meta)
  if (failure !== undefined) throw invalidParamsError(prefixFailurePath(failure, '_meta'))
  // The check above covers every member that the type names.
  return meta as RequestMetaObject
}

/** Creates the error for a failed check of params. */
export function invalidParamsError({ path, expected, got }: Failure): McpError {
  return new McpError(errorCodes.invalidParams, `params${path} must be ${expected}, got ${got}`)
}
