import { type Form, form } from '@x/server'
import { z } from 'zod'
import type { FieldValue } from '../azure-devops/work-item.ts'
import type { FieldDefinition } from '../azure-devops/work-item-type.ts'
import type { MissingField } from '../rules/missing-fields.ts'
import type { Basis } from './basis.ts'
import { linkFields } from './link-fields.ts'
import { workItemId } from './work-item-output.ts'

/** What a user is asked about a field that a rule requires. */
export interface FieldQuestion {
  /** Names the question within the call. */
  readonly key: string
  readonly message: string
  readonly schema: Form<FieldValue>
  /** Whether the answer is the id of another work item, which has to be there. */
  readonly isWorkItem: boolean
}

/** How a team asks about one of its fields. */
interface Wording {
  readonly key: string
  /** The name of the form's only field. */
  readonly property: string
  readonly message: (subject: string) => string
  readonly description: string
}

/** The words for fields of which we know what they mean; every other field is asked for with its rule. */
const wordings: ReadonlyMap<string, Wording> = new Map([
  [
    'Microsoft.VSTS.Common.ResolvedReason',
    {
      key: 'resolution',
      property: 'resolution',
      message: (subject: string) => `Resolving ${subject} requires a resolution. How was this bug resolved?`,
      description: 'Resolution type for this bug',
    },
  ],
  [
    'Custom.DuplicateOf',
    {
      key: 'duplicate_of',
      property: 'duplicateOfId',
      message: () => 'Since this is a duplicate, which work item is the original?',
      description: 'Work item ID of the original bug',
    },
  ],
])

const longestText = 32_000

/** The question about a field that a rule requires; `definition` is what the process knows of the field. */
export function fieldQuestion(
  missing: MissingField,
  definition: FieldDefinition | undefined,
  item: Basis,
): FieldQuestion {
  const wording = wordings.get(missing.field) ?? plainWording(missing, definition)
  const isWorkItem = linkFields.has(missing.field)
  return {
    key: wording.key,
    message: wording.message(`${item.type} #${item.id}`),
    schema: formOf(wording, isWorkItem ? workItemId : valueSchema(definition)),
    isWorkItem,
  }
}

function plainWording({ field, rule, because }: MissingField, definition: FieldDefinition | undefined): Wording {
  const name = definition?.name || field
  return {
    key: field,
    property: 'value',
    message: (subject) =>
      `The rule "${rule}" requires a value for ${name} when ${because}. Which should ${subject} have?`,
    description: `${name} (${field})`,
  }
}

/** The service takes a text for fields of every type, and says what it does not accept. */
function valueSchema(definition: FieldDefinition | undefined): z.ZodType<FieldValue, FieldValue> {
  const values = definition?.allowedValues ?? []
  return values.length > 0 ? z.enum(values) : z.string().min(1).max(longestText)
}

function formOf({ property, description }: Wording, value: z.ZodType<FieldValue, FieldValue>): Form<FieldValue> {
  const fields = z.object({ [property]: value.describe(description) })
  return form(fields.transform((content, context) => content[property] ?? emptyAnswer(context)))
}

function emptyAnswer(context: z.RefinementCtx): never {
  context.addIssue({ code: 'custom', message: 'the form came back empty' })
  return z.NEVER
}
