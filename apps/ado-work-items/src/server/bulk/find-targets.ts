import type { AzureDevOps } from '../../azure-devops/create-azure-devops.ts'
import type { WorkItemFilters } from '../../azure-devops/wiql.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { Target } from './outcome.ts'

/** The selected work items: those with these ids, or those that match every filter. */
export interface Selection extends WorkItemFilters {
  readonly ids?: readonly number[] | undefined
}

/** The result of a selection. */
export type Targets = {
  readonly found: Target[]
  /** The ids that no work item has. */
  readonly missing: number[]
}

/** The project to search. */
export interface Looking {
  readonly azureDevOps: Pick<AzureDevOps, 'findWorkItems' | 'getWorkItems'>
  readonly signal: AbortSignal
  /** The limit of work items. */
  readonly most: number
}

/** Finds what is to be changed. Rejects with {@link ToolFailure} when that is too much, and with `AzureDevOpsError`. */
export async function findTargets({ ids, ...filters }: Selection, looking: Looking): Promise<Targets> {
  const { azureDevOps, signal, most } = looking
  if (ids === undefined) {
    const { workItems, more } = await azureDevOps.findWorkItems({ filters, top: most }, signal)
    if (more) throw tooMany(`More than ${most} work items match`, most)
    return { found: workItems.map(toTarget), missing: [] }
  }
  const wanted = [...new Set(ids)]
  if (wanted.length > most) throw tooMany(`These are ${wanted.length} work items`, most)
  const items = await azureDevOps.getWorkItems(wanted, signal)
  const there = new Set(items.map(({ id }) => id))
  return { found: items.map(toTarget), missing: wanted.filter((id) => !there.has(id)) }
}

function toTarget({ id, rev, type }: Target): Target {
  return { id, rev, type }
}

function tooMany(what: string, most: number): ToolFailure {
  return new ToolFailure(`Nothing was changed: ${what}, and ${most} can be changed at once. Narrow the selection.`)
}
