import * as z from 'zod'
import { searchFilters } from '../list-work-items.ts'
import { newValues } from '../update-work-item.ts'
import { workItemId } from '../work-item-output.ts'

/** The maximum number of work items in one task. A task stores its record in a database. */
export const maxInTask = 200
/**
 * The maximum number of work items in one call. Its record travels with the client in the sealed state, which has less
 * room.
 */
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
/** The parsed value of {@link bulkInput}. */
export type BulkInput = z.infer<typeof bulkInput>

function isGiven(value: unknown): boolean {
  return value !== undefined
}
