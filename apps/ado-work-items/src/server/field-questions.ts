import { type Form, form } from '@x/server'
import * as z from 'zod'
import type { FieldValue } from '../azure-devops/work-item.ts'
import type { FieldDefinition } from '../azure-devops/work-item-type.ts'
import type { MissingField } from '../rules/missing-fields.ts'
import type { Basis } from './basis.ts'
import { linkFields } from './link-fields.ts'
import { workItemId } from './work-item-output.ts'

/** The question for a field that a rule requires. */
export interface FieldQuestion {
  /** The key of the question, unique within the call. */
  readonly key: string
  readonly message: string
  readonly schema: Form<FieldValue>
  /** `true` when the answer is the id of another work item, which must exist. */
  readonly isWorkItem: boolean
}

/** The wording of the question for a known field. */
interface Wording {
  readonly key: string
  /** The name of the form's only field. */
  readonly property: string
  readonly message: (subject: string) => string
  /** The message for several work items at once. */
  readonly messageForAll: (subjects: string) => string
  readonly description: string
}

/** The wordings for fields with a known meaning. The question for any other field names the rule and the field. */
const wordings: ReadonlyMap<string, Wording> = new Map([
  [
    'Microsoft.VSTS.Common.ResolvedReason',
    {
      key: 'resolution',
      property: 'resolution',
      message: (subject: string) => `Resolving ${subject} requires a resolution. How was this bug resolved?`,
      messageForAll: (subjects: string) => `Resolving ${subjects} requires a resolution. How were they resolved?`,
      description: 'Resolution type for this bug',
    },
  ],
  [
    'Custom.DuplicateOf',
    {
      key: 'duplicate_of',
      property: 'duplicateOfId',
      message: () => 'Since this is a duplicate, which work item is the original?',
      messageForAll: (subjects: string) =>
        `Since ${subjects} are duplicates, which work item is the original of them all?`,
      description: 'Work item ID of the original bug',
    },
  ],
])

const maxTextLength = 32_000

/** Creates the question for a field that a rule requires. `definition` is the process's definition of the field. */
export function fieldQuestion(
  missing: MissingField,
  definition: FieldDefinition | undefined,
  item: Basis,
): FieldQuestion {
  const { field, rule, because } = missing
  const subject = `${item.type} #${item.id}`
  const message = (name: string) =>
    `The rule "${rule}" requires a value for ${name} when ${because}. Which should ${subject} have?`
  return questionOf(field, definition, (wording, name) => wording?.message(subject) ?? message(name))
}

/** Creates the question for a field that rules require of several work items. `subjects` is the list of their names. */
export function sharedFieldQuestion(
  field: string,
  definition: FieldDefinition | undefined,
  subjects: string,
): FieldQuestion {
  const message = (name: string) =>
    `Rules of the process require a value for ${name} of ${subjects}. Which should they have?`
  return questionOf(field, definition, (wording, name) => wording?.messageForAll(subjects) ?? message(name))
}

/** Describes a field with its allowed values, or else its display name: `Custom.DuplicateOf (Duplicate Of)`. */
export function describeField(field: string, definition: FieldDefinition | undefined): string {
  const hint = definition?.allowedValues.join(', ') || definition?.name || ''
  return hint === '' ? field : `${field} (${hint})`
}

function questionOf(
  field: string,
  definition: FieldDefinition | undefined,
  message: (wording: Wording | undefined, name: string) => string,
): FieldQuestion {
  const wording = wordings.get(field)
  const name = definition?.name || field
  const isWorkItem = linkFields.has(field)
  const form = wording ?? { property: 'value', description: `${name} (${field})` }
  return {
    key: wording?.key ?? field,
    message: message(wording, name),
    schema: formOf(form, isWorkItem ? workItemId : valueSchema(definition)),
    isWorkItem,
  }
}

/**
 * Returns the schema of a field's value: one of the allowed values, or a text. Azure DevOps accepts text for fields of
 * every type, and validates it.
 */
function valueSchema(definition: FieldDefinition | undefined): z.ZodType<FieldValue, FieldValue> {
  const values = definition?.allowedValues ?? []
  return values.length > 0 ? z.enum(values) : z.string().min(1).max(maxTextLength)
}

function formOf(
  { property, description }: Pick<Wording, 'property' | 'description'>,
  value: z.ZodType<FieldValue, FieldValue>,
): Form<FieldValue> {
  const fields = z.object({ [property]: value.describe(description) })
  return form(fields.transform((content, context) => content[property] ?? emptyAnswer(context)))
}

function emptyAnswer(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'the form came back empty' })
  return z.NEVER
}
