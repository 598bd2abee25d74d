import { isJsonObject } from '../basic/json.ts'
import * as check from './checks.ts'

/** An optional string. */
export const optionalString: check.Check = check.optional(check.string)

/** An optional boolean. */
export const optionalBoolean: check.Check = check.optional(check.boolean)

/** Checks for members that may be any JSON: a value, and an object. */
export interface FreeJson {
  readonly value: check.Check
  readonly object: check.Check
}

/**
 * Checks it deeply, as the validators do: a client keeps the content of a result, and in memory no parser has checked
 * it.
 */
export const checkedJson: FreeJson = { value: check.json, object: check.jsonObject }

/** Leaves it to the message parser and to the code that uses it: params are checked on every request. */
export const uncheckedJson: FreeJson = { value: () => undefined, object: check.object }

/** A `Role`. */
export const role: check.Check = check.oneOf('assistant', 'user')

const icon = check.fields({
  src: check.string,
  mimeType: optionalString,
  sizes: check.optional(check.strings),
  theme: check.optional(check.oneOf('dark', 'light')),
})

/** The members for people: names, a description, and icons (basic/index, icons). */
export const described = {
  name: check.string,
  title: optionalString,
  description: optionalString,
  icons: check.optional(check.items(icon)),
}

/** An `Implementation`: the software of a client or a server. */
export const implementation: check.Check = check.fields({
  ...described,
  version: check.string,
  websiteUrl: optionalString,
})

const annotations = check.fields({
  audience: check.optional(check.items(role)),
  lastModified: optionalString,
  priority: check.optional(check.allOf),
})

/** The annotations of content and resources. */
export function annotated({ object }: FreeJson): { readonly [key: string]: check.Check } {
  return { annotations: check.optional(annotations), _meta: check.optional(object) }
}

/** A `Resource`, and a link to one except for its `type`. */
export function resourceCheck(free: FreeJson): check.Check {
  return check.fields({
    ...described,
    ...annotated(free),
    uri: check.string,
    mimeType: optionalString,
    size: check.optional(check.integer),
  })
}

function plainContent(free: FreeJson): { readonly [type: string]: check.Check } {
  const common = annotated(free)
  const media = check.fields({ ...common, data: check.string, mimeType: check.string })
  return { text: check.fields({ ...common, text: check.string }), image: media, audio: media }
}

/** The contents of a resource, as text or as bytes. An object with both is valid when either is. */
export function resourceContents({ object }: FreeJson): check.Check {
  const contents = { uri: check.string, mimeType: optionalString, _meta: check.optional(object) }
  const text = check.fields({ ...contents, text: check.string })
  const blob = check.fields({ ...contents, blob: check.string })
  return (value) => {
    const isBlob = isJsonObject(value) && typeof value['text'] !== 'string' && value['blob'] !== undefined
    return isBlob ? blob(value) : text(value)
  }
}

/** A `ContentBlock`. */
export function contentBlockCheck(free: FreeJson): check.Check {
  return check.byMember('type', {
    ...plainContent(free),
    resource_link: resourceCheck(free),
    resource: check.fields({ ...annotated(free), resource: resourceContents(free) }),
  })
}

/** The content of a message to or from a model, in one block or several. */
export function sampledContent(free: FreeJson): check.Check {
  const _meta = check.optional(free.object)
  const block = check.byMember('type', {
    ...plainContent(free),
    tool_use: check.fields({ id: check.string, name: check.string, input: free.object, _meta }),
    tool_result: check.fields({
      toolUseId: check.string,
      content: check.items(contentBlockCheck(free)),
      structuredContent: check.optional(free.value),
      isError: optionalBoolean,
      _meta,
    }),
  })
  const blocks = check.items(block)
  return (value) => (Array.isArray(value) ? blocks : block)(value)
}
