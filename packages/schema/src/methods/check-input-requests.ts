import { isJsonObject } from '@x/core'
import { deepJsonChecks, optionalString, role, sampledContentCheck } from './check-content.ts'
import { tool } from './check-definitions.ts'
import * as check from './checks.ts'

const commonFieldChecks = { title: optionalString, description: optionalString }
const optionalInteger = check.optional(check.integer)
const optionalNumber = check.optional(check.number)
const options = check.items(check.fields({ const: check.string, title: check.string }))

const anyTextField = check.fields({ ...commonFieldChecks, default: optionalString })
const freeTextField = check.fields({
  minLength: optionalInteger,
  maxLength: optionalInteger,
  format: check.optional(check.oneOf('date', 'date-time', 'email', 'uri')),
})
const nameChoiceField = check.fields({ enum: check.strings })
const optionChoiceField = check.fields({ oneOf: options })

// Any text, or one of a choice. An object may have members of other kinds, so only what is none of the kinds is
// refused.
const textFieldCheck: check.Check = (value) => {
  const failure = anyTextField(value)
  if (failure !== undefined) return failure
  const freeTextFailure = freeTextField(value)
  if (freeTextFailure === undefined || nameChoiceField(value) === undefined) return undefined
  return optionChoiceField(value) === undefined ? undefined : freeTextFailure
}

const numberFieldCheck = check.fields({
  ...commonFieldChecks,
  minimum: optionalNumber,
  maximum: optionalNumber,
  default: optionalNumber,
})

const nameItems = check.fields({ type: check.oneOf('string'), enum: check.strings })
const optionItems = check.fields({ anyOf: options })
const multiSelectField = check.fields({
  ...commonFieldChecks,
  minItems: optionalInteger,
  maxItems: optionalInteger,
  default: check.optional(check.strings),
  items: (value) => {
    const failure = nameItems(value)
    if (failure === undefined || !isJsonObject(value)) return failure
    return value['anyOf'] === undefined ? failure : optionItems(value)
  },
})

/** A `PrimitiveSchemaDefinition`: one field of a form. */
const formField = check.byMember('type', {
  string: textFieldCheck,
  number: numberFieldCheck,
  integer: numberFieldCheck,
  boolean: check.fields({ ...commonFieldChecks, default: check.optional(check.boolean) }),
  array: multiSelectField,
})

const formParams = check.fields({
  mode: check.optional(check.oneOf('form')),
  message: check.string,
  requestedSchema: check.fields({
    $schema: optionalString,
    type: check.oneOf('object'),
    properties: check.members(formField),
    required: check.optional(check.strings),
  }),
})

const urlParams = check.fields({ message: check.string, url: check.string })

const optionalMeta = check.optional(check.jsonObject)
const optionalPriority = check.optional(check.numberFromZeroToOne)
const samplingParams = check.fields({
  messages: check.items(check.fields({ role, content: sampledContentCheck(deepJsonChecks), _meta: optionalMeta })),
  maxTokens: check.integer,
  modelPreferences: check.optional(
    check.fields({
      hints: check.optional(check.items(check.fields({ name: optionalString }))),
      costPriority: optionalPriority,
      speedPriority: optionalPriority,
      intelligencePriority: optionalPriority,
    }),
  ),
  systemPrompt: optionalString,
  includeContext: check.optional(check.oneOf('none', 'thisServer', 'allServers')),
  temperature: optionalNumber,
  stopSequences: check.optional(check.strings),
  metadata: check.optional(check.jsonObject),
  tools: check.optional(check.items(tool)),
  toolChoice: check.optional(check.fields({ mode: check.optional(check.oneOf('auto', 'required', 'none')) })),
})

/** Checks one `InputRequest`, a form, a URL, a sampling request or a request for roots: undefined when it is valid. */
export const checkInputRequest: check.Check = check.byMember('method', {
  'elicitation/create': check.fields({
    params: (value) => (isJsonObject(value) && value['mode'] === 'url' ? urlParams : formParams)(value),
  }),
  'sampling/createMessage': check.fields({ params: samplingParams }),
  'roots/list': check.fields({ params: check.optional(check.fields({ _meta: optionalMeta })) }),
})

/** Checks `InputRequests` with any keys (basic/patterns/mrtr): undefined when all are valid. */
export const checkInputRequests: check.Check = check.members(checkInputRequest)
