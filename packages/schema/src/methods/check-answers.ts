import { isJsonObject } from '../basic/json.ts'
import { type FreeJson, uncheckedJson, checkedJson, optionalString, role, sampledContent } from './check-content.ts'
import * as check from './checks.ts'

function createMessageResult(free: FreeJson): check.Check {
  return check.fields({
    role,
    content: sampledContent(free),
    model: check.string,
    stopReason: optionalString,
    _meta: check.optional(free.object),
  })
}

function listRootsResult({ object }: FreeJson): check.Check {
  const root = check.fields({ uri: check.string, name: optionalString, _meta: check.optional(object) })
  return check.fields({ roots: check.items(root) })
}

/** Checks a `CreateMessageResult` (client/sampling): undefined when it is valid. */
export const checkCreateMessageResult: check.Check = createMessageResult(checkedJson)

/** Checks a `ListRootsResult` (client/roots): undefined when it is valid. */
export const checkListRootsResult: check.Check = listRootsResult(checkedJson)

const formValue: check.Check = (value) => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return undefined
  return Array.isArray(value) ? check.strings(value) : check.expected('a string, a number, a boolean or strings', value)
}

const elicitResult = check.fields({
  action: check.oneOf('accept', 'cancel', 'decline'),
  content: check.optional(check.members(formValue)),
})

const message = createMessageResult(uncheckedJson)
const roots = listRootsResult(uncheckedJson)

/**
 * Checks a result that answers an input request (basic/patterns/mrtr). It is valid when it is any of the three kinds;
 * the failure describes the kind that its members resemble.
 */
export const inputResponses: check.Check = check.members(
  (value) => elicitResult(value) && message(value) && roots(value) && closestCheck(value)(value),
)

function closestCheck(value: unknown): check.Check {
  if (!isJsonObject(value) || 'action' in value) return elicitResult
  if ('roots' in value) return roots
  return 'role' in value || 'model' in value ? message : elicitResult
}
