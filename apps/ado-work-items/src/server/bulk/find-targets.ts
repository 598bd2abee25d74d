import type { AzureDevOps } from '../../azure-devops/create-azure-devops.ts'
import type { WorkItemFilters } from '../../azure-devops/wiql.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { Target } from './outcome.ts'

/** The selection of work items: those with the given ids, or those that match every filter. */
export interface Selection extends WorkItemFilters {
  readonly ids?: readonly number[] | undefined
}

/** The result of a selection. */
export type Targets = {
  readonly found: Target[]
  /** The given ids that no work item has. */
  readonly missing: number[]
}

/** The project to search, and the limits of the search. */
export interface SearchScope {
  readonly azureDevOps: Pick<AzureDevOps, 'findWorkItems' | 'getWorkItems'>
  readonly signal: AbortSignal
  /** The maximum number of work items. */
  readonly limit: number
}

/**
 * Finds the work items to change. Rejects with {@link ToolFailure} if there are more than `limit`, and with
 * `AzureDevOpsError`.
 */
export async function findTargets({ ids, ...filters }: Selection, scope: SearchScope): Promise<Targets> {
  const { azureDevOps, signal, limit } = scope
  if (ids === undefined) {
    const { workItems, more } = await azureDevOps.findWorkItems({ filters, top: limit }, signal)
    if (more) throw tooMany(`More than ${limit} work items match`, limit)
    return { found: workItems.map(toTarget), missing: [] }
  }
  const wanted = [...new Set(ids)]
  if (wanted.length > limit) throw tooMany(`These are ${wanted.length} work items`, limit)
  const items = await azureDevOps.getWorkItems(wanted, signal)
  const there = new Set(items.map(({ id }) => id))
  return { found: items.map(toTarget), missing: wanted.filter((id) => !there.has(id)) }
}

function toTarget({ id, rev, type }: Target): Target {
  return { id, rev, type }
}

function tooMany(what: string, limit: number): ToolFailure {
  return new ToolFailure(`Nothing was changed: ${what}, and ${limit} can be changed at once. Narrow the selection.`)
}
