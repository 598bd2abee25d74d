import { AzureDevOpsError } from '../../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../../azure-devops/create-azure-devops.ts'
import { missingFields } from '../../rules/missing-fields.ts'
import { readBasis } from '../basis.ts'
import { saveChange } from '../save-change.ts'
import { reasonOf } from '../tool-failure.ts'
import type { Entry, Outcome } from './outcome.ts'

/** A change of one among several work items. */
export interface OneChange extends Pick<Entry, 'target' | 'fields'> {
  /** `true` when the change applies even to a work item that another user changed since the search. */
  readonly overwrite: boolean
}

/** A client without tasks gets the reasons of fifty work items back in one state. */
const maxReasonLength = 160

/**
 * Changes one of several work items, once however often it is called, and tells what came of it: what goes wrong with
 * one must not cost the others. Rejects only with the signal's reason, and with errors that are not about the work
 * item.
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
  // A change whose record was lost after its write is reported as changed, although nothing is left to write.
  const { rev } = after
  return rev === target.rev ? { status: 'unchanged', rev } : { status: 'changed', rev }
}
