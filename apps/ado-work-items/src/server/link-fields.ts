import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, WorkItem } from '../azure-devops/work-item.ts'

/**
 * The fields that contain the id of another work item, each with the type of its link. A rule of the process can
 * require a field but not a link. A team that wants to require a link adds such a field.
 */
export const linkFields: ReadonlyMap<string, { readonly type: string; readonly label: string }> = new Map([
  ['Custom.DuplicateOf', { type: 'System.LinkTypes.Duplicate-Reverse', label: 'Duplicate Of' }],
])

/** A link that a change of fields adds. */
export interface NewLink {
  /** The field that contains the id. */
  readonly field: string
  readonly type: string
  readonly url: string
  /** The display name of the link type. */
  readonly label: string
  readonly workItemId: number
}

/** Returns the links that belong to the values of these fields. */
export function linksOf(fields: Fields, azureDevOps: Pick<AzureDevOps, 'workItemUrl'>): readonly NewLink[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const link = linkFields.get(field)
    const workItemId = Number(value)
    if (link === undefined || !Number.isInteger(workItemId) || workItemId < 1) return []
    return [{ ...link, field, workItemId, url: azureDevOps.workItemUrl(workItemId) }]
  })
}

/** Returns true if the work item already has the link. */
export function hasLink(item: WorkItem, link: NewLink): boolean {
  return item.links.some((existing) => existing.type === link.type && existing.workItemId === link.workItemId)
}
