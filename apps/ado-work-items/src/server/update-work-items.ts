import { type Context, type Tool, tool, toolResult } from '@x/server'
import { z } from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { askForFields, mayOverwrite } from './bulk/ask-for-all.ts'
import { changeOne } from './bulk/change-one.ts'
import { type BulkOutput, bulkOutput, describeBulk, toBulkOutput } from './bulk/describe-bulk.ts'
import { findTargets } from './bulk/find-targets.ts'
import { openReport, type ProgressReport } from './bulk/progress-report.ts'
import { icons } from './icon.ts'
import { searchFilters } from './list-work-items.ts'
import { toFailedResult } from './tool-failure.ts'
import { newValues } from './update-work-item.ts'
import { workItemId } from './work-item-output.ts'

/** A task keeps what it has done in a database; without one all of it travels with the client, which has room for less. */
const [mostInTask, mostInCall] = [200, 50]

const input = z
  .object({
    ...searchFilters,
    ids: z.array(workItemId).min(1).max(mostInTask).optional().describe('The work items, in the place of filters'),
    fields: newValues,
  })
  .refine(({ ids, fields: _, ...filters }) => (ids !== undefined) !== Object.values(filters).some(isGiven), {
    error: 'should have either ids or at least one filter (state, type, assignedTo, text)',
  })
type Arguments = z.infer<typeof input>

/** `update_work_items`: the same new values for many work items, as a task where the client has tasks. */
export function updateWorkItems(azureDevOps: AzureDevOps): Tool {
  return tool('update_work_items', {
    title: 'Change many work items',
    description: `Set fields of every work item that matches the filters, or of those with the given ids: up to ${mostInTask} as a task, up to ${mostInCall} otherwise. What rules of the process require besides, the user is asked for once for all of them. One that cannot be changed is skipped, and the answer says why.`,
    icons,
    input,
    output: bulkOutput,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    task: 'allowed',
    async run(args, ctx) {
      try {
        const structuredContent = await changeAll(args, azureDevOps, ctx)
        return toolResult({ content: [{ type: 'text', text: describeBulk(structuredContent) }], structuredContent })
      } catch (error) {
        return toolResult(toFailedResult(error))
      }
    },
  })
}

/**
 * The whole change, from top to bottom. It runs again after each answer of the user and wherever its task goes on, at
 * whichever instance: each work item is a step, so what was done is not done again.
 */
async function changeAll({ fields, ...which }: Arguments, azureDevOps: AzureDevOps, ctx: Context): Promise<BulkOutput> {
  const most = (await ctx.task()) ? mostInTask : mostInCall
  const targets = await ctx.step('find', ({ signal }) => findTargets(which, { azureDevOps, signal, most }))
  const report = openReport(targets.found.length, ctx)
  for (const target of targets.found) {
    const change = { target, fields, overwrite: false }
    const outcome = await ctx.step(`save/${target.id}`, ({ signal }) => changeOne(change, azureDevOps, signal))
    report.note({ target, fields, outcome })
  }
  await completeWaiting(report, azureDevOps, ctx)
  await settleConflicts(report, azureDevOps, ctx)
  return toBulkOutput(report.entries(), targets)
}

/** Asks for what rules require, and changes what waited for that. An answer can bring the next rule into force. */
async function completeWaiting(report: ProgressReport, azureDevOps: AzureDevOps, ctx: Context): Promise<void> {
  for (let round = 2; ; round++) {
    const waiting = report.of('waiting')
    if (waiting.length === 0) return
    const obtained = await askForFields(waiting, { ctx, azureDevOps })
    for (const entry of waiting) {
      if ('why' in obtained) {
        report.note({ ...entry, outcome: { status: 'skipped', why: obtained.why } })
        continue
      }
      const change = { target: entry.target, fields: { ...entry.fields, ...obtained.fields }, overwrite: false }
      const key = `save/${entry.target.id}/${round}`
      report.note({ ...change, outcome: await ctx.step(key, ({ signal }) => changeOne(change, azureDevOps, signal)) })
    }
  }
}

/** Asks about what somebody else has changed meanwhile, and changes it all the same if the user wants that. */
async function settleConflicts(report: ProgressReport, azureDevOps: AzureDevOps, ctx: Context): Promise<void> {
  const conflicts = report.of('conflict')
  if (conflicts.length === 0 || !(await mayOverwrite(conflicts, { ctx }))) return
  for (const { target, fields } of conflicts) {
    const change = { target, fields, overwrite: true }
    const key = `overwrite/${target.id}`
    report.note({ ...change, outcome: await ctx.step(key, ({ signal }) => changeOne(change, azureDevOps, signal)) })
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined
}
