import * as z from 'zod'
import { searchFilters } from '../list-work-items.ts'
import { newValues } from '../update-work-item.ts'
import { workItemId } from '../work-item-output.ts'

/** The limit of work items that a task may change; it keeps its record in a database. */
export const maxInTask = 200
/** The limit of work items that a call may change; its record travels with its client, which has room for less. */
export const maxInCall = 50

/** The arguments of `update_work_items`. */
export const bulkInput = z
  .object({
    ...searchFilters,
    ids: z.array(workItemId).min(1).max(maxInTask).optional().describe('The work items, in the place of filters'),
    fields: newValues,
  })
  .refine(({ ids, fields: _, ...filters }) => (ids !== undefined) !== Object.values(filters).some(isGiven), {
    error: 'should have either ids or at least one filter (state, type, assignedTo, text)',
  })
/** {@link bulkInput} as the handler gets it. */
export type BulkInput = z.infer<typeof bulkInput>

function isGiven(value: unknown): boolean {
  return value !== undefined
}
