import type { Fields, WorkItem } from '../azure-devops/work-item.ts'
import type { WorkItemType } from '../azure-devops/work-item-type.ts'
import { type MissingField, missingFields } from '../rules/missing-fields.ts'
import { ToolFailure } from './tool-failure.ts'

/** A change that was asked for, with what it is judged by. */
export interface WantedChange {
  readonly item: WorkItem
  readonly type: WorkItemType
  readonly fields: Fields
}

/**
 * The fields of a change with everything that the rules of the process require.
 *
 * A given field can bring another rule into force, so the rules are asked again until none wants more.
 * Throws {@link ToolFailure} when a required field is not to be had.
 */
export async function completeFields(change: WantedChange): Promise<Fields> {
  let { fields } = change
  for (;;) {
    const after = { ...change.item.fields, ...fields }
    const missing = missingFields(change.type.rules, { before: change.item.fields, after })
    if (missing.length === 0) return fields
    fields = { ...fields, ...(await obtainFields(missing, change)) }
  }
}

/** Where missing fields come from. Nobody can be asked here, so the caller is told to call again with them. */
async function obtainFields(missing: readonly MissingField[], change: WantedChange): Promise<Fields> {
  const { type, id } = change.item
  const reasons = missing.map(
    ({ rule, field, because }) =>
      `rule "${rule}" requires the field ${describeField(field, change.type)} when ${because}`,
  )
  const those = missing.length === 1 ? 'that field' : 'those fields'
  throw new ToolFailure(`${type} #${id} was not changed: ${reasons.join('; ')}. Call again with ${those}.`)
}

/** A field with what it accepts: `Microsoft.VSTS.Common.ResolvedReason (Fixed, Won't Fix)`, else with its name. */
function describeField(field: string, type: WorkItemType): string {
  const definition = type.fields.get(field)
  if (definition === undefined) return field
  const hint = definition.allowedValues.length > 0 ? definition.allowedValues.join(', ') : definition.name
  return hint === '' ? field : `${field} (${hint})`
}
