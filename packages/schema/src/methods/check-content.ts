import { isJsonObject } from '../basic/json.ts'
import { json, jsonObject } from './check-json.ts'
import * as check from './checks.ts'

/** A string that may be left out, as most are. */
export const optionalString: check.Check = check.optional(check.string)

/** The `_meta` of whatever is neither a request nor a result. */
export const optionalMeta: check.Check = check.optional(jsonObject)

/** A `Role`. */
export const role: check.Check = check.oneOf('assistant', 'user')

/** Icons that may be left out (basic/index, icons). */
export const optionalIcons: check.Check = check.optional(
  check.items(
    check.fields({
      src: check.string,
      mimeType: optionalString,
      sizes: check.optional(check.items(check.string)),
      theme: check.optional(check.oneOf('dark', 'light')),
    }),
  ),
)

/** An `Implementation`: who a client or a server says that it is. */
export const implementation: check.Check = check.fields({
  name: check.string,
  version: check.string,
  title: optionalString,
  description: optionalString,
  websiteUrl: optionalString,
  icons: optionalIcons,
})

/** `Annotations` that may be left out. */
export const optionalAnnotations: check.Check = check.optional(
  check.fields({
    audience: check.optional(check.items(role)),
    lastModified: optionalString,
    priority: check.optional(check.numberBetween(0, 1)),
  }),
)

/** A `Resource`, and a link to one but for its `type`. */
export const resource: check.Check = check.fields({
  name: check.string,
  uri: check.string,
  title: optionalString,
  description: optionalString,
  mimeType: optionalString,
  size: check.optional(check.integer),
  icons: optionalIcons,
  annotations: optionalAnnotations,
  _meta: optionalMeta,
})

const common = { annotations: optionalAnnotations, _meta: optionalMeta }
const media = check.fields({ ...common, data: check.string, mimeType: check.string })
const plainContent = {
  text: check.fields({ ...common, text: check.string }),
  image: media,
  audio: media,
}

const contents = { uri: check.string, mimeType: optionalString, _meta: optionalMeta }
const textContents = check.fields({ ...contents, text: check.string })
const blobContents = check.fields({ ...contents, blob: check.string })

/** What a resource holds, as text or as bytes. One with both is well when either is. */
export const resourceContents: check.Check = (value) => {
  const isBlob = isJsonObject(value) && typeof value['text'] !== 'string' && value['blob'] !== undefined
  return isBlob ? blobContents(value) : textContents(value)
}

/** A `ContentBlock`. */
export const contentBlock: check.Check = check.byMember('type', {
  ...plainContent,
  resource_link: resource,
  resource: check.fields({ ...common, resource: resourceContents }),
})

const sampledBlock = check.byMember('type', {
  ...plainContent,
  tool_use: check.fields({ id: check.string, name: check.string, input: jsonObject, _meta: optionalMeta }),
  tool_result: check.fields({
    toolUseId: check.string,
    content: check.items(contentBlock),
    structuredContent: check.optional(json),
    isError: check.optional(check.boolean),
    _meta: optionalMeta,
  }),
})
const sampledBlocks = check.items(sampledBlock)

/** What a message to or from a model says, in one block or several. */
export const sampledContent: check.Check = (value) => (Array.isArray(value) ? sampledBlocks : sampledBlock)(value)
