import { metaKeys } from '../basic/meta-keys.ts'
import * as content from './check-content.ts'
import { prompt, resourceTemplate, tool } from './check-definitions.ts'
import * as check from './checks.ts'
import type { Method } from './methods.ts'

const optionalObject = check.optional(check.jsonObject)
const serverInfo = { [metaKeys.serverInfo]: check.optional(content.implementation) }
const resultFields = { resultType: check.string, _meta: check.optional(check.fieldsWithRest(serverInfo, check.json)) }

const durationCheck: check.Check = (value) => {
  const isDuration = Number.isSafeInteger(value) && Number(value) >= 0
  return isDuration ? undefined : check.typeFailure('an integer from 0 up', value)
}
const cacheableFields = { ...resultFields, ttlMs: durationCheck, cacheScope: check.oneOf('private', 'public') }

function pageCheck(key: string, item: check.Check): check.Check {
  return check.fields({ ...cacheableFields, nextCursor: content.optionalString, [key]: check.items(item) })
}

const settings = check.optional(check.members(check.jsonObject))
const listCapabilityCheck = check.optional(check.fields({ listChanged: content.optionalBoolean }))
const serverCapabilities = check.fields({
  completions: optionalObject,
  experimental: settings,
  extensions: settings,
  logging: optionalObject,
  prompts: listCapabilityCheck,
  resources: check.optional(check.fields({ listChanged: content.optionalBoolean, subscribe: content.optionalBoolean })),
  tools: listCapabilityCheck,
})

/** The limit of values in one completion (server/utilities/completion). */
const maximumValues = 100

const completionValuesCheck: check.Check = (value) => {
  const isTooLong = Array.isArray(value) && value.length > maximumValues
  return isTooLong ? check.typeFailure(`at most ${maximumValues} strings`, value) : check.strings(value)
}

const blockCheck = content.contentBlockCheck(content.deepJsonChecks)

const resultChecks: { readonly [M in Method]: check.Check } = {
  'server/discover': check.fields({
    ...cacheableFields,
    supportedVersions: check.strings,
    capabilities: serverCapabilities,
    instructions: content.optionalString,
  }),
  'tools/list': pageCheck('tools', tool),
  'tools/call': check.fields({
    ...resultFields,
    content: check.items(blockCheck),
    structuredContent: check.optional(check.json),
    isError: content.optionalBoolean,
  }),
  'prompts/list': pageCheck('prompts', prompt),
  'prompts/get': check.fields({
    ...resultFields,
    description: content.optionalString,
    messages: check.items(check.fields({ role: content.role, content: blockCheck })),
  }),
  'resources/list': pageCheck('resources', content.resourceCheck(content.deepJsonChecks)),
  'resources/templates/list': pageCheck('resourceTemplates', resourceTemplate),
  'resources/read': check.fields({
    ...cacheableFields,
    contents: check.items(content.resourceContentsCheck(content.deepJsonChecks)),
  }),
  'completion/complete': check.fields({
    ...resultFields,
    completion: check.fields({
      values: completionValuesCheck,
      total: check.optional(check.integer),
      hasMore: content.optionalBoolean,
    }),
  }),
  'subscriptions/listen': check.fields({
    ...resultFields,
    _meta: check.fieldsWithRest({ ...serverInfo, [metaKeys.subscriptionId]: check.stringOrInteger }, check.json),
  }),
}

/**
 * Checks a method's complete result against its published type: undefined when it is valid. No defaults are filled in
 * for servers of an earlier revision.
 */
export function checkResult(method: Method, value: unknown): check.Failure | undefined {
  return resultChecks[method](value)
}
