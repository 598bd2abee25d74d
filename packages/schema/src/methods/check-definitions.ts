import { annotatedFields, describedFields, deepJsonChecks, optionalBoolean, optionalString } from './check-content.ts'
import * as check from './checks.ts'

/** A `Tool`; its schemas are JSON objects here, and their keywords are not checked. */
export const tool: check.Check = check.fields({
  ...describedFields,
  _meta: check.optional(check.jsonObject),
  inputSchema: check.fieldsWithRest({ $schema: optionalString, type: check.oneOf('object') }, check.json),
  outputSchema: check.optional(check.fieldsWithRest({ $schema: optionalString }, check.json)),
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
  ...describedFields,
  _meta: check.optional(check.jsonObject),
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
  ...describedFields,
  ...annotatedFields(deepJsonChecks),
  uriTemplate: check.string,
  mimeType: optionalString,
})
