import { isJsonObject } from '../basic/json.ts'
import * as check from './checks.ts'

/** A string that may be left out, as most are. */
export const optionalString: check.Check = check.optional(check.string)

/** A boolean that may be left out. */
export const optionalBoolean: check.Check = check.optional(check.boolean)

/** The `_meta` of whatever is neither a request nor a result. */
export const optionalMeta: check.Check = check.optional(check.jsonObject)

/** A `Role`. */
export const role: check.Check = check.oneOf('assistant', 'user')

const icon = check.fields({
  src: check.string,
  mimeType: optionalString,
  sizes: check.optional(check.items(check.string)),
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
export const annotated = { annotations: check.optional(annotations), _meta: optionalMeta }

/** A `Resource`, and a link to one but for its `type`. */
export const resource: check.Check = check.fields({
  ...described,
  ...annotated,
  uri: check.string,
  mimeType: optionalString,
  size: check.optional(check.integer),
})

const media = check.fields({ ...annotated, data: check.string, mimeType: check.string })
const plainContent = {
  text: check.fields({ ...annotated, text: check.string }),
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
  resource: check.fields({ ...annotated, resource: resourceContents }),
})

const sampledBlock = check.byMember('type', {
  ...plainContent,
  tool_use: check.fields({ id: check.string, name: check.string, input: check.jsonObject, _meta: optionalMeta }),
  tool_result: check.fields({
    toolUseId: check.string,
    content: check.items(contentBlock),
    structuredContent: check.optional(check.json),
    isError: optionalBoolean,
    _meta: optionalMeta,
  }),
})
const sampledBlocks = check.items(sampledBlock)

/** What a message to or from a model says, in one block or several. */
export const sampledContent: check.Check = (value) => (Array.isArray(value) ? sampledBlocks : sampledBlock)(value)
