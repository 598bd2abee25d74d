import type { JsonObject } from '@x/core'
import { type Failure, prefixFailurePath } from '../basic/failure.ts'
import { errorCodes, McpError } from '../basic/mcp-error.ts'
import { type RequestMetaObject, requestMetaObject } from '../basic/meta.ts'
import { checkOf, type Shape } from '../basic/shape.ts'

/**
 * Checks a request's params and returns the same object. Throws `McpError(invalidParams)` with the path of an invalid
 * part.
 */
export type ParamsCheck<P> = (params: JsonObject | undefined) => P

/** Derives the check of a method's params from their shape. */
export function paramsCheckOf<P>(shape: Shape<P>): ParamsCheck<P> {
  const checkParams = checkOf(shape, 'shallow')
  return (params) => {
    const failure = checkParams(params)
    if (failure !== undefined) throw invalidParamsError(failure)
    // The cast is safe: a shape of P describes every member of P, so that the check covers all of them.
    return params as P
  }
}

/** The check of a request's `_meta` (basic/index, per-request protocol fields). */
const requestMetaCheck = checkOf(requestMetaObject, 'shallow')

/**
 * Returns the checked `_meta` of a request's params. The version and the capabilities are present, and the other
 * reserved keys are well-formed (basic/index, per-request protocol fields). Throws `McpError(invalidParams)` with the
 * path of an invalid part.
 */
export function requestMetaOf(params: JsonObject | undefined): RequestMetaObject {
  const meta = params?.['_meta']
  const failure = requestMetaCheck(meta)
  if (failure !== undefined) throw invalidParamsError(prefixFailurePath(failure, '_meta'))
  // The cast is safe: the check above covers every member of the type.
  return meta as RequestMetaObject
}

function invalidParamsError({ path, expected, got }: Failure): McpError {
  return new McpError(errorCodes.invalidParams, `params${path} must be ${expected}, got ${got}`)
}
