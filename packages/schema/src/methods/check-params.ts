import type { JsonObject } from '@x/core'
import { checkOf, type Shape } from '../basic/shape.ts'
import { invalidParamsError } from './request-meta.ts'

/** Checks a request's params and returns the same object; throws `McpError(invalidParams)` that names the path. */
export type ParamsCheck<P> = (params: JsonObject | undefined) => P

/** Derives the check of a method's params from their shape. */
export function paramsCheckOf<P>(shape: Shape<P>): ParamsCheck<P> {
  const checkParams = checkOf(shape, 'shallow')
  return (params) => {
    const failure = checkParams(params)
    if (failure !== undefined) throw invalidParamsError(failure)
    // The shape of P is invariant, so that the check covers every member of P.
    return params as P
  }
}
