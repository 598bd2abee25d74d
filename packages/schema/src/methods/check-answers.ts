import { isJson, isJsonObject } from '../basic/json.ts'
import { optionalMeta, optionalString, role, sampledContent } from './check-content.ts'
import * as check from './checks.ts'

/** Judges a `CreateMessageResult` (client/sampling): undefined when it is well. */
export const checkCreateMessageResult: check.Check = check.fields({
  role,
  content: sampledContent,
  model: check.string,
  stopReason: optionalString,
  _meta: optionalMeta,
})

/** Judges a `ListRootsResult` (client/roots): undefined when it is well. */
export const checkListRootsResult: check.Check = check.fields({
  roots: check.items(check.fields({ uri: check.string, name: optionalString, _meta: optionalMeta })),
})

const formValue: check.Check = (value) => {
  if (typeof value !== 'object' && isJson(value)) return undefined
  return Array.isArray(value) ? strings(value) : check.expected('a string, a number, a boolean or strings', value)
}

const strings = check.items(check.string)
const elicitResult = check.fields({
  action: check.oneOf('accept', 'cancel', 'decline'),
  content: check.optional(check.members(formValue)),
})

/**
 * The results that answer what a server asked (basic/patterns/mrtr). One is well when it is any of the three kinds; the
 * failure is told of the kind that its members look like.
 */
export const inputResponses: check.Check = check.members(
  (value) =>
    elicitResult(value) && checkCreateMessageResult(value) && checkListRootsResult(value) && likeliest(value)(value),
)

function likeliest(value: unknown): check.Check {
  if (!isJsonObject(value) || 'action' in value) return elicitResult
  if ('roots' in value) return checkListRootsResult
  return 'role' in value || 'model' in value ? checkCreateMessageResult : elicitResult
}
