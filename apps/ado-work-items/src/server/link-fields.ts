import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, WorkItem } from '../azure-devops/work-item.ts'

/**
 * Fields that hold the id of another work item, with the type of the link that goes with them. Rules of a process can
 * require a field and never a link, so a team that wants the link has such a field beside it.
 */
export const linkFields: ReadonlyMap<string, { readonly type: string; readonly label: string }> = new Map([
  ['Custom.DuplicateOf', { type: 'System.LinkTypes.Duplicate-Reverse', label: 'Duplicate Of' }],
])

/** A link that a change of fields brings with it. */
export interface NewLink {
  /** The field that it goes with. */
  readonly field: string
  readonly type: string
  readonly url: string
  /** The link type's name, for people. */
  readonly label: string
  readonly workItemId: number
}

/** The links that go along with these fields. */
export function linksOf(fields: Fields, azureDevOps: Pick<AzureDevOps, 'workItemUrl'>): readonly NewLink[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const link = linkFields.get(field)
    const workItemId = Number(value)
    if (link === undefined || !Number.isInteger(workItemId) || workItemId < 1) return []
    return [{ ...link, field, workItemId, url: azureDevOps.workItemUrl(workItemId) }]
  })
}

/** Returns true if a work item has a link already. */
export function hasLink(item: WorkItem, link: NewLink): boolean {
  return item.links.some((existing) => existing.type === link.type && existing.workItemId === link.workItemId)
}
