import { isJsonObject } from '@x/core'
import * as check from './checks.ts'

/** An optional string. */
export const optionalString: check.Check = check.optional(check.string)

/** An optional boolean. */
export const optionalBoolean: check.Check = check.optional(check.boolean)

/** Checks for members that may be any JSON: a value, and an object. */
export interface JsonChecks {
  readonly value: check.Check
  readonly object: check.Check
}

/**
 * Checks it deeply, as the validators do: a client keeps the content of a result, and in memory no parser has checked
 * it.
 */
export const deepJsonChecks: JsonChecks = { value: check.json, object: check.jsonObject }

/** Leaves it to the message parser and to the code that uses it: params are checked on every request. */
export const shallowJsonChecks: JsonChecks = { value: () => undefined, object: check.object }

/** A `Role`. */
export const role: check.Check = check.oneOf('assistant', 'user')

const icon = check.fields({
  src: check.string,
  mimeType: optionalString,
  sizes: check.optional(check.strings),
  theme: check.optional(check.oneOf('dark', 'light')),
})

/** The members for people: names, a description, and icons (basic/index, icons). */
export const describedFields = {
  name: check.string,
  title: optionalString,
  description: optionalString,
  icons: check.optional(check.items(icon)),
}

/** An `Implementation`: the software of a client or a server. */
export const implementation: check.Check = check.fields({
  ...describedFields,
  version: check.string,
  websiteUrl: optionalString,
})

const annotations = check.fields({
  audience: check.optional(check.items(role)),
  lastModified: optionalString,
  priority: check.optional(check.numberFromZeroToOne),
})

/** The annotations of content and resources. */
export function annotatedFields({ object }: JsonChecks): { readonly [key: string]: check.Check } {
  return { annotations: check.optional(annotations), _meta: check.optional(object) }
}

/** A `Resource`, and a link to one except for its `type`. */
export function resourceCheck(jsonChecks: JsonChecks): check.Check {
  return check.fields({
    ...describedFields,
    ...annotatedFields(jsonChecks),
    uri: check.string,
    mimeType: optionalString,
    size: check.optional(check.integer),
  })
}

function plainContentChecks(jsonChecks: JsonChecks): { readonly [type: string]: check.Check } {
  const commonFields = annotatedFields(jsonChecks)
  const mediaCheck = check.fields({ ...commonFields, data: check.string, mimeType: check.string })
  return { text: check.fields({ ...commonFields, text: check.string }), image: mediaCheck, audio: mediaCheck }
}

/** The contents of a resource, as text or as bytes. An object with both is valid when either is. */
export function resourceContentsCheck({ object }: JsonChecks): check.Check {
  const contentsFields = { uri: check.string, mimeType: optionalString, _meta: check.optional(object) }
  const text = check.fields({ ...contentsFields, text: check.string })
  const blobCheck = check.fields({ ...contentsFields, blob: check.string })
  return (value) => {
    const isBlob = isJsonObject(value) && typeof value['text'] !== 'string' && value['blob'] !== undefined
    return isBlob ? blobCheck(value) : text(value)
  }
}

/** A `ContentBlock`. */
export function contentBlockCheck(jsonChecks: JsonChecks): check.Check {
  return check.byMember('type', {
    ...plainContentChecks(jsonChecks),
    resource_link: resourceCheck(jsonChecks),
    resource: check.fields({ ...annotatedFields(jsonChecks), resource: resourceContentsCheck(jsonChecks) }),
  })
}

/** The content of a message to or from a model, in one block or several. */
export function sampledContentCheck(jsonChecks: JsonChecks): check.Check {
  const _meta = check.optional(jsonChecks.object)
  const blockCheck = check.byMember('type', {
    ...plainContentChecks(jsonChecks),
    tool_use: check.fields({ id: check.string, name: check.string, input: jsonChecks.object, _meta }),
    tool_result: check.fields({
      toolUseId: check.string,
      content: check.items(contentBlockCheck(jsonChecks)),
      structuredContent: check.optional(jsonChecks.value),
      isError: optionalBoolean,
      _meta,
    }),
  })
  const blocksCheck = check.items(blockCheck)
  return (value) => (Array.isArray(value) ? blocksCheck : blockCheck)(value)
}
