import type { SubscriptionsListenRequestParams } from '../patterns/subscriptions.ts'
import type { CompleteRequestParams } from '../server/completion.ts'
import type { PaginatedRequestParams } from '../server/pagination.ts'
import type { GetPromptRequestParams } from '../server/prompts.ts'
import type { ReadResourceRequestParams } from '../server/resource-requests.ts'
import type { CallToolRequestParams } from '../server/tool-requests.ts'
import {
  type JsonChecks,
  shallowJsonChecks,
  deepJsonChecks,
  optionalBoolean,
  optionalString,
  role,
  sampledContentCheck,
} from './check-content.ts'
import * as check from './checks.ts'
import { isJsonObject, type JsonObject } from '@x/core'
import type { RequestParams } from '../basic/meta.ts'
import { invalidParamsError, requestMetaCheck } from './request-meta.ts'

/** Checks a request's params and returns the same object; throws `McpError(invalidParams)` that names the path. */
export type ParamsCheck<P> = (params: JsonObject | undefined) => P

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
const inputResponsesCheck: check.Check = check.members(
  (value) => elicitResultCheck(value) && messageCheck(value) && rootsCheck(value) && closestCheck(value)(value),
)

function closestCheck(value: unknown): check.Check {
  if (!isJsonObject(value) || 'action' in value) return elicitResultCheck
  if ('roots' in value) return rootsCheck
  return 'role' in value || 'model' in value ? messageCheck : elicitResultCheck
}

const stringMap = check.optional(check.members(check.string))
const _meta = requestMetaCheck

const inputResponseFields = { inputResponses: check.optional(inputResponsesCheck), requestState: optionalString }

/** Params with only `_meta`. */
export const requestParams: ParamsCheck<RequestParams> = createParamsCheck({})

/** Params of a paginated method (server/utilities/pagination). */
export const paginatedRequestParams: ParamsCheck<PaginatedRequestParams> = createParamsCheck({ cursor: optionalString })

/** Params of `tools/call` (server/tools). */
export const callToolRequestParams: ParamsCheck<CallToolRequestParams> = createParamsCheck({
  name: check.string,
  arguments: check.optional(check.object),
  ...inputResponseFields,
})

/** Params of `prompts/get` (server/prompts). */
export const getPromptRequestParams: ParamsCheck<GetPromptRequestParams> = createParamsCheck({
  name: check.string,
  arguments: stringMap,
  ...inputResponseFields,
})

/** Params of `resources/read` (server/resources). */
export const readResourceRequestParams: ParamsCheck<ReadResourceRequestParams> = createParamsCheck({
  uri: check.string,
  ...inputResponseFields,
})

/** Params of `completion/complete` (server/utilities/completion). */
export const completeRequestParams: ParamsCheck<CompleteRequestParams> = createParamsCheck({
  ref: check.byMember('type', {
    'ref/prompt': check.fields({ name: check.string, title: optionalString }),
    'ref/resource': check.fields({ uri: check.string }),
  }),
  argument: check.fields({ name: check.string, value: check.string }),
  context: check.optional(check.fields({ arguments: stringMap })),
})

/** Params of `subscriptions/listen` (basic/patterns/subscriptions). */
export const subscriptionsListenRequestParams: ParamsCheck<SubscriptionsListenRequestParams> = createParamsCheck({
  notifications: check.fields({
    toolsListChanged: optionalBoolean,
    promptsListChanged: optionalBoolean,
    resourcesListChanged: optionalBoolean,
    resourceSubscriptions: check.optional(check.strings),
  }),
})

function createParamsCheck<P>(checks: { readonly [key: string]: check.Check }): ParamsCheck<P> {
  const checkFields = check.fields({ _meta, ...checks })
  return (value) => {
    const failure = checkFields(value)
    if (failure !== undefined) throw invalidParamsError(failure)
    // The checks name every member of the type P; a test compares them with its validator.
    return value as P
  }
}
