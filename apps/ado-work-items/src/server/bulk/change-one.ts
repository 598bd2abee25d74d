import { AzureDevOpsError } from '../../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../../azure-devops/create-azure-devops.ts'
import { missingFields } from '../../rules/missing-fields.ts'
import { readBasis } from '../basis.ts'
import { saveChange } from '../save-change.ts'
import { reasonOf } from '../tool-failure.ts'
import type { Entry, Outcome } from './outcome.ts'

/** The change of one work item in a bulk update. */
export interface OneChange extends Pick<Entry, 'target' | 'fields'> {
  /** `true` to write the change even if another user has changed the work item since the search. */
  readonly overwrite: boolean
}

/**
 * The maximum length of a reason, in characters. A client without tasks carries up to 50 reasons in one sealed state.
 */
const maxReasonLength = 160

/**
 * Changes one work item of a bulk update and returns the outcome. A repeated call writes nothing again. An error about
 * this work item becomes an outcome, so that the others are still changed. Other errors, and the reason of an aborted
 * signal, reject.
 */
export async function changeOne(change: OneChange, azureDevOps: AzureDevOps, signal: AbortSignal): Promise<Outcome> {
  try {
    return await attempt(change, azureDevOps, signal)
  } catch (error) {
    if (error instanceof AzureDevOpsError && error.code === 'conflict') return { status: 'conflict' }
    const why = reasonOf(error)
    if (why === undefined) throw error
    return { status: 'skipped', why: why.length > maxReasonLength ? `${why.slice(0, maxReasonLength - 1)}…` : why }
  }
}

async function attempt(
  { target, fields, overwrite }: OneChange,
  azureDevOps: AzureDevOps,
  signal: AbortSignal,
): Promise<Outcome> {
  const read = await readBasis({ id: target.id, fields }, azureDevOps, signal)
  const basis = overwrite ? read.basis : { ...read.basis, rev: target.rev }
  const type = await azureDevOps.workItemType(basis.type)
  const missing = missingFields(type.rules, { before: basis.fields, after: { ...basis.fields, ...fields } })
  if (missing.length > 0) return { status: 'waiting', needs: [...new Set(missing.map(({ field }) => field))] }
  const { after } = await saveChange({ basis, type, fields }, azureDevOps, signal)
  // If the response to an earlier write was lost, the revision is newer than the target's. The outcome is then
  // `changed`, although this call wrote nothing.
  const { rev } = after
  return rev === target.rev ? { status: 'unchanged', rev } : { status: 'changed', rev }
}
