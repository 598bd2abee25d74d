import { isJsonObject } from '../basic/json.ts'
import * as check from './checks.ts'

/** A string that may be left out, as most are. */
export const optionalString: check.Check = check.optional(check.string)

/** A boolean that may be left out. */
export const optionalBoolean: check.Check = check.optional(check.boolean)

/** How what may be any JSON is judged: a value, and an object. */
export interface FreeJson {
  readonly value: check.Check
  readonly object: check.Check
}

/** Looks through it, as the validators do: a client keeps what a result holds, and in memory no parser has seen it. */
export const lookedThrough: FreeJson = { value: check.json, object: check.jsonObject }

/** Leaves it to the parser of messages, and to whoever uses it: params are judged on the way of every request. */
export const leftAlone: FreeJson = { value: () => undefined, object: check.object }

/** A `Role`. */
export const role: check.Check = check.oneOf('assistant', 'user')

const icon = check.fields({
  src: check.string,
  mimeType: optionalString,
  sizes: check.optional(check.strings),
  theme: check.optional(check.oneOf('dark', 'light')),
})

/** What tells people of a thing: its names, a description, and icons (basic/index, icons). */
export const described = {
  name: check.string,
  title: optionalString,
  description: optionalString,
  icons: check.optional(check.items(icon)),
}

/** An `Implementation`: who a client or a server says that it is. */
export const implementation: check.Check = check.fields({
  ...described,
  version: check.string,
  websiteUrl: optionalString,
})

const annotations = check.fields({
  audience: check.optional(check.items(role)),
  lastModified: optionalString,
  priority: check.optional(check.share),
})

/** What content and resources may say of themselves. */
export function annotated({ object }: FreeJson): { readonly [key: string]: check.Check } {
  return { annotations: check.optional(annotations), _meta: check.optional(object) }
}

/** A `Resource`, and a link to one but for its `type`. */
export function resource(free: FreeJson): check.Check {
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

/** What a resource holds, as text or as bytes. One with both is well when either is. */
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
export function contentBlock(free: FreeJson): check.Check {
  return check.byMember('type', {
    ...plainContent(free),
    resource_link: resource(free),
    resource: check.fields({ ...annotated(free), resource: resourceContents(free) }),
  })
}

/** What a message to or from a model says, in one block or several. */
export function sampledContent(free: FreeJson): check.Check {
  const _meta = check.optional(free.object)
  const block = check.byMember('type', {
    ...plainContent(free),
    tool_use: check.fields({ id: check.string, name: check.string, input: free.object, _meta }),
    tool_result: check.fields({
      toolUseId: check.string,
      content: check.items(contentBlock(free)),
      structuredContent: check.optional(free.value),
      isError: optionalBoolean,
      _meta,
    }),
  })
  const blocks = check.items(block)
  return (value) => (Array.isArray(value) ? blocks : block)(value)
}
