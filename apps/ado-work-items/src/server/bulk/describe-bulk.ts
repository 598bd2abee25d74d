import * as z from 'zod'
import type { Targets } from './find-targets.ts'
import { type Entry, nameOf } from './outcome.ts'

const done = z.object({ id: z.number().int(), type: z.string(), rev: z.number().int().describe('The revision now') })

/** The output schema of `update_work_items`. */
export const bulkOutput = z.object({
  changed: z.array(done),
  unchanged: z.array(done).describe('Those that had these values already'),
  skipped: z.array(z.object({ id: z.number().int(), type: z.string().optional(), why: z.string() })),
})

/** The parsed value of {@link bulkOutput}. */
export type BulkOutput = z.infer<typeof bulkOutput>

/** Lists the outcomes of all selected work items, in the order of the search. */
export function toBulkOutput(entries: readonly Entry[], { missing }: Pick<Targets, 'missing'>): BulkOutput {
  const output: BulkOutput = { changed: [], unchanged: [], skipped: [] }
  for (const { target, outcome } of entries) {
    const { id, type } = target
    if (outcome.status === 'changed') output.changed.push({ id, type, rev: outcome.rev })
    else if (outcome.status === 'unchanged') output.unchanged.push({ id, type, rev: outcome.rev })
    else output.skipped.push({ id, type, why: reasonFor(outcome) })
  }
  output.skipped.push(...missing.map((id) => ({ id, why: 'there is no such work item.' })))
  return output
}

function reasonFor(outcome: Exclude<Entry['outcome'], { rev: number }>): string {
  if (outcome.status === 'skipped') return outcome.why
  if (outcome.status === 'conflict') return 'another user changed it in the meantime.'
  return `rules require ${outcome.needs.join(' and ')}.`
}

/** Formats the outcomes as text for users and models. Work items with the same reason share a line. */
export function describeBulk({ changed, unchanged, skipped }: BulkOutput): string {
  const total = changed.length + unchanged.length + skipped.length
  if (total === 0) return 'No work item matches: nothing was changed.'
  const reasons = new Set(skipped.map(({ why }) => why))
  const lines = [
    `${changed.length} of ${total} work items ${changed.length === 1 ? 'was' : 'were'} changed${listed(changed)}.`,
    ...(unchanged.length === 0 ? [] : [`These values were there already${listed(unchanged)}.`]),
    ...[...reasons].map((why) => `Not changed${listed(skipped.filter((one) => one.why === why))}: ${why}`),
  ]
  return lines.join('\n')
}

function listed(items: readonly { readonly id: number; readonly type?: string | undefined }[]): string {
  if (items.length === 0) return ''
  return `: ${items.map(({ id, type }) => nameOf({ id, type: type ?? 'Work item' })).join(', ')}`
}
