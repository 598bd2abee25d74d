import { type Context, type Tool, tool, toolResult } from '@x/server'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { type BulkInput, bulkInput, maxInCall, maxInTask } from './bulk/bulk-input.ts'
import { changeOne } from './bulk/change-one.ts'
import { type BulkOutput, bulkOutput, describeBulk, toBulkOutput } from './bulk/describe-bulk.ts'
import { findTargets } from './bulk/find-targets.ts'
import { openReport } from './bulk/progress-report.ts'
import { completeWaiting, resolveConflicts } from './bulk/resolve-pending.ts'
import { icons } from './icon.ts'
import { toFailedResult } from './tool-failure.ts'

/** Creates `update_work_items`: sets the same values in many work items, as a task if the client supports tasks. */
export function updateWorkItems(azureDevOps: AzureDevOps): Tool {
  return tool('update_work_items', {
    title: 'Change many work items',
    description: `Set fields of every work item that matches the filters, or of those with the given ids: up to ${maxInTask} as a task, up to ${maxInCall} otherwise. What rules of the process require besides, the user is asked for once for all of them. One that cannot be changed is skipped, and the answer says why.`,
    icons,
    input: bulkInput,
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
 * Changes all selected work items. The function runs again from the start after each answer of the user, and when
 * another instance continues the task. Each work item is a step, and a completed step is not repeated.
 */
async function changeAll({ fields, ...which }: BulkInput, azureDevOps: AzureDevOps, ctx: Context): Promise<BulkOutput> {
  const limit = (await ctx.continueAsTask()) ? maxInTask : maxInCall
  const targets = await ctx.step('find', ({ signal }) => findTargets(which, { azureDevOps, signal, limit }))
  const report = openReport(targets.found.length, ctx)
  for (const target of targets.found) {
    const change = { target, fields, overwrite: false }
    const outcome = await ctx.step(`save/${target.id}`, ({ signal }) => changeOne(change, azureDevOps, signal))
    report.note({ target, fields, outcome })
  }
  await completeWaiting(report, azureDevOps, ctx)
  await resolveConflicts(report, azureDevOps, ctx)
  return toBulkOutput(report.entries(), targets)
}
