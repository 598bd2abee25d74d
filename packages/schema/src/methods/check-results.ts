import { metaKeys } from '../basic/meta-keys.ts'
import * as content from './check-content.ts'
import { prompt, resourceTemplate, tool } from './check-definitions.ts'
import * as check from './checks.ts'
import type { Method } from './methods.ts'

const optionalObject = check.optional(check.jsonObject)
const serverInfo = { [metaKeys.serverInfo]: check.optional(content.implementation) }
const result = { resultType: check.string, _meta: check.optional(check.fieldsWithRest(serverInfo, check.json)) }

const durationCheck: check.Check = (value) => {
  const fits = Number.isSafeInteger(value) && Number(value) >= 0
  return fits ? undefined : check.expected('an integer from 0 up', value)
}
const cacheable = { ...result, ttlMs: durationCheck, cacheScope: check.oneOf('private', 'public') }

function pageOf(key: string, item: check.Check): check.Check {
  return check.fields({ ...cacheable, nextCursor: content.optionalString, [key]: check.items(item) })
}

const settings = check.optional(check.members(check.jsonObject))
const list = check.optional(check.fields({ listChanged: content.optionalBoolean }))
const serverCapabilities = check.fields({
  completions: optionalObject,
  experimental: settings,
  extensions: settings,
  logging: optionalObject,
  prompts: list,
  resources: check.optional(check.fields({ listChanged: content.optionalBoolean, subscribe: content.optionalBoolean })),
  tools: list,
})

/** The limit of values in one completion (server/utilities/completion). */
const maximumValues = 100

const values: check.Check = (value) => {
  const isLong = Array.isArray(value) && value.length > maximumValues
  return isLong ? check.expected(`at most ${maximumValues} strings`, value) : check.strings(value)
}

const block = content.contentBlockCheck(content.checkedJson)

const results: { readonly [M in Method]: check.Check } = {
  'server/discover': check.fields({
    ...cacheable,
    supportedVersions: check.strings,
    capabilities: serverCapabilities,
    instructions: content.optionalString,
  }),
  'tools/list': pageOf('tools', tool),
  'tools/call': check.fields({
    ...result,
    content: check.items(block),
    structuredContent: check.optional(check.json),
    isError: content.optionalBoolean,
  }),
  'prompts/list': pageOf('prompts', prompt),
  'prompts/get': check.fields({
    ...result,
    description: content.optionalString,
    messages: check.items(check.fields({ role: content.role, content: block })),
  }),
  'resources/list': pageOf('resources', content.resourceCheck(content.checkedJson)),
  'resources/templates/list': pageOf('resourceTemplates', resourceTemplate),
  'resources/read': check.fields({
    ...cacheable,
    contents: check.items(content.resourceContents(content.checkedJson)),
  }),
  'completion/complete': check.fields({
    ...result,
    completion: check.fields({
      values,
      total: check.optional(check.integer),
      hasMore: content.optionalBoolean,
    }),
  }),
  'subscriptions/listen': check.fields({
    ...result,
    _meta: check.fieldsWithRest({ ...serverInfo, [metaKeys.subscriptionId]: check.stringOrInteger }, check.json),
  }),
}

/**
 * Checks a method's complete result against its published type: undefined when it is valid. No defaults are filled in
 * for servers of an earlier revision.
 */
export function checkResult(method: Method, value: unknown): check.Failure | undefined {
  return results[method](value)
}
