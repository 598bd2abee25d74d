import { isJsonObject } from '@x/core'
import {
  type JsonChecks,
  shallowJsonChecks,
  deepJsonChecks,
  optionalString,
  role,
  sampledContentCheck,
} from './check-content.ts'
import * as check from './checks.ts'

function createMessageResultCheck(jsonChecks: JsonChecks): check.Check {
  return check.fields({
    role,
    content: sampledContentCheck(jsonChecks),
    model: check.string,
    stopReason: optionalString,
    _meta: check.optional(jsonChecks.object),
  })
}

function listRootsResultCheck({ object }: JsonChecks): check.Check {
  const root = check.fields({ uri: check.string, name: optionalString, _meta: check.optional(object) })
  return check.fields({ roots: check.items(root) })
}

/** Checks a `CreateMessageResult` (client/sampling): undefined when it is valid. */
export const checkCreateMessageResult: check.Check = createMessageResultCheck(deepJsonChecks)

/** Checks a `ListRootsResult` (client/roots): undefined when it is valid. */
export const checkListRootsResult: check.Check = listRootsResultCheck(deepJsonChecks)

const checkFormValue: check.Check = (value) => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return undefined
  return Array.isArray(value)
    ? check.strings(value)
    : check.typeFailure('a string, a number, a boolean or strings', value)
}

const elicitResultCheck = check.fields({
  action: check.oneOf('accept', 'cancel', 'decline'),
  content: check.optional(check.members(checkFormValue)),
})

const messageCheck = createMessageResultCheck(shallowJsonChecks)
const rootsCheck = listRootsResultCheck(shallowJsonChecks)

/**
 * Checks a result that answers an input request (basic/patterns/mrtr). It is valid when it is any of the three kinds;
 * the failure describes the kind that its members resemble.
 */
export const inputResponsesCheck: check.Check = check.members(
  (value) => elicitResultCheck(value) && messageCheck(value) && rootsCheck(value) && closestCheck(value)(value),
)

function closestCheck(value: unknown): check.Check {
  if (!isJsonObject(value) || 'action' in value) return elicitResultCheck
  if ('roots' in value) return rootsCheck
  return 'role' in value || 'model' in value ? messageCheck : elicitResultCheck
}
