import { z } from 'zod'
import { searchFilters } from '../list-work-items.ts'
import { newValues } from '../update-work-item.ts'
import { workItemId } from '../work-item-output.ts'

/** How many work items a task may change; it keeps what it has done in a database. */
export const mostInTask = 200
/** How many a call may change; all that it has done travels with its client, which has room for less. */
export const mostInCall = 50

/** What `update_work_items` takes. */
export const bulkInput = z
  .object({
    ...searchFilters,
    ids: z.array(workItemId).min(1).max(mostInTask).optional().describe('The work items, in the place of filters'),
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
