import type { Context } from '@x/server'
import type { AzureDevOps } from '../../azure-devops/create-azure-devops.ts'
import { askForFields, mayOverwrite } from './ask-for-all.ts'
import { changeOne } from './change-one.ts'
import type { ProgressReport } from './progress-report.ts'

/**
 * Asks the user for the fields that rules require, then changes the waiting work items. New values can make further
 * rules apply, so this repeats until no work item waits.
 */
export async function completeWaiting(report: ProgressReport, azureDevOps: AzureDevOps, ctx: Context): Promise<void> {
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

/**
 * Asks the user about work items that another user has changed since the search, and changes them if the user agrees.
 */
export async function resolveConflicts(report: ProgressReport, azureDevOps: AzureDevOps, ctx: Context): Promise<void> {
  const conflicts = report.of('conflict')
  if (conflicts.length === 0 || !(await mayOverwrite(conflicts, { ctx }))) return
  for (const { target, fields } of conflicts) {
    const change = { target, fields, overwrite: true }
    const key = `overwrite/${target.id}`
    report.note({ ...change, outcome: await ctx.step(key, ({ signal }) => changeOne(change, azureDevOps, signal)) })
  }
}
