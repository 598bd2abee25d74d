import * as check from './checks.ts'

const role = check.oneOf('assistant', 'user')
const optionalString = check.optional(check.string)
const optionalObject = check.optional(check.object)

/** An `Icon` (basic/index, icons). */
const icon = check.fields({
  src: check.string,
  mimeType: optionalString,
  sizes: check.optional(check.items(check.string)),
  theme: check.optional(check.oneOf('dark', 'light')),
})

const icons = check.optional(check.items(icon))

/** An `Implementation`: who a client or a server says that it is. */
export const implementation: check.Check = check.fields({
  name: check.string,
  version: check.string,
  title: optionalString,
  description: optionalString,
  websiteUrl: optionalString,
  icons,
})

const annotations = check.optional(
  check.fields({
    audience: check.optional(check.items(role)),
    lastModified: optionalString,
    priority: check.optional(check.numberBetween(0, 1)),
  }),
)

const common = { annotations, _meta: optionalObject }
const media = check.fields({ ...common, data: check.string, mimeType: check.string })

const plainContent = {
  text: check.fields({ ...common, text: check.string }),
  image: media,
  audio: media,
}

const contents = { uri: check.string, mimeType: optionalString, _meta: optionalObject }
const textContents = check.fields({ ...contents, text: check.string })
const blobContents = check.fields({ ...contents, blob: check.string })

const contentBlock = check.byType({
  ...plainContent,
  resource_link: check.fields({
    ...common,
    name: check.string,
    uri: check.string,
    title: optionalString,
    description: optionalString,
    mimeType: optionalString,
    size: check.optional(check.integer),
    icons,
  }),
  resource: check.fields({
    ...common,
    resource: (value) => (textContents(value) === undefined ? undefined : blobContents(value)),
  }),
})

const sampledBlock = check.byType({
  ...plainContent,
  tool_use: check.fields({ id: check.string, name: check.string, input: check.object, _meta: optionalObject }),
  tool_result: check.fields({
    toolUseId: check.string,
    content: check.items(contentBlock),
    isError: check.optional(check.boolean),
    _meta: optionalObject,
  }),
})

const sampledBlocks = check.items(sampledBlock)

const createMessageResult = check.fields({
  role,
  content: (value) => (Array.isArray(value) ? sampledBlocks(value) : sampledBlock(value)),
  model: check.string,
  stopReason: optionalString,
  _meta: optionalObject,
})

const listRootsResult = check.fields({
  roots: check.items(check.fields({ uri: check.string, name: optionalString, _meta: optionalObject })),
})

const formValue: check.Check = (value) => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return undefined
  return Array.isArray(value) ? strings(value) : check.expected('a string, a number, a boolean or strings', value)
}

const strings = check.items(check.string)

const elicitResult = check.fields({
  action: check.oneOf('accept', 'cancel', 'decline'),
  content: check.optional(check.members(formValue)),
})

/**
 * The results that answer what a server asked (basic/patterns/mrtr). One is well when it is any of the three kinds; the
 * failure is told of the kind that its members look like.
 */
export const inputResponses: check.Check = check.members((value) => {
  const failure = elicitResult(value)
  if (failure === undefined || createMessageResult(value) === undefined) return undefined
  if (listRootsResult(value) === undefined) return undefined
  return likeliest(value)?.(value) ?? failure
})

function likeliest(value: unknown): check.Check | undefined {
  if (typeof value !== 'object' || value === null || 'action' in value) return undefined
  if ('roots' in value) return listRootsResult
  return 'role' in value || 'model' in value ? createMessageResult : undefined
}
