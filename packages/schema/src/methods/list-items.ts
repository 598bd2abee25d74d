import type { JsonObject, JsonValue } from '@x/core'
import type { Failure } from '../basic/failure.ts'
import { checkResult } from './check-results.ts'
import type { Method } from './methods.ts'

// limit: invalid entries of a list | count | entries of a page that a client or a gateway leaves out | the page is an invalid result
const maxOmittedItems = 20

/**
 * Leaves out the invalid items of a result whose check has failed, so that one that a server got wrong does not cost all
 * others. `omitted` says how many. Undefined if the method is no list, or something else is invalid, too.
 */
export function omitInvalidItems(
  method: Method,
  result: JsonObject,
  first: Failure,
): { readonly result: JsonObject; readonly omitted: number } | undefined {
  const { field } = placeOf(first)
  let rest = result[field]
  if (!Array.isArray(rest) || !method.endsWith('/list')) return undefined
  let valid: readonly JsonValue[] = []
  let failure: Failure | undefined = first
  for (let omitted = 0; omitted <= maxOmittedItems; omitted += 1) {
    if (failure === undefined) return { result: { ...result, [field]: valid.concat(rest) }, omitted }
    // What was checked before it is not checked again.
    const { index } = placeOf(failure)
    valid = valid.concat(rest.slice(0, index))
    rest = rest.slice(index + 1)
    failure = checkResult(method, { ...result, [field]: rest })
  }
  return undefined
}

function placeOf({ path }: Failure): { readonly field: string; readonly index: number } {
  const [, field = '', index] = /^\.(\w+)\[(\d+)/.exec(path) ?? []
  return { field, index: Number(index) }
}
