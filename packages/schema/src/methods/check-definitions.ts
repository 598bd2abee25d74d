import { optionalAnnotations, optionalIcons, optionalMeta, optionalString } from './check-content.ts'
import { json } from './check-json.ts'
import * as check from './checks.ts'

const optionalBoolean = check.optional(check.boolean)
const described = {
  name: check.string,
  title: optionalString,
  description: optionalString,
  icons: optionalIcons,
  _meta: optionalMeta,
}

/** A `Tool`; its schemas are JSON objects here, and nothing is said of their keywords. */
export const tool: check.Check = check.fields({
  ...described,
  inputSchema: check.fieldsAndOthers({ $schema: optionalString, type: check.oneOf('object') }, json),
  outputSchema: check.optional(check.fieldsAndOthers({ $schema: optionalString }, json)),
  annotations: check.optional(
    check.fields({
      title: optionalString,
      readOnlyHint: optionalBoolean,
      destructiveHint: optionalBoolean,
      idempotentHint: optionalBoolean,
      openWorldHint: optionalBoolean,
    }),
  ),
})

/** A `Prompt`. */
export const prompt: check.Check = check.fields({
  ...described,
  arguments: check.optional(
    check.items(
      check.fields({
        name: check.string,
        title: optionalString,
        description: optionalString,
        required: optionalBoolean,
      }),
    ),
  ),
})

/** A `ResourceTemplate`. */
export const resourceTemplate: check.Check = check.fields({
  ...described,
  uriTemplate: check.string,
  mimeType: optionalString,
  annotations: optionalAnnotations,
})
