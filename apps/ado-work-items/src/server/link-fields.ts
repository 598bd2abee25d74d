import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Fields, WorkItem } from '../azure-devops/work-item.ts'

/**
 * Fields that hold the id of another work item, with the type of the link that goes with them. Rules of a process can
 * require a field and never a link, so a team that wants the link has such a field beside it.
 */
const linkFields: ReadonlyMap<string, { readonly type: string; readonly label: string }> = new Map([
  ['Custom.DuplicateOf', { type: 'System.LinkTypes.Duplicate-Reverse', label: 'Duplicate Of' }],
])

/** A link that a change of fields brings with it. */
export interface NewLink {
  readonly type: string
  readonly url: string
  /** The link type's name, for people. */
  readonly label: string
  readonly workItemId: number
}

/** The links that a work item should get along with these fields and does not have yet. */
export function newLinks(item: WorkItem, fields: Fields, azureDevOps: AzureDevOps): readonly NewLink[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const link = linkFields.get(field)
    const workItemId = Number(value)
    if (link === undefined || !Number.isInteger(workItemId) || workItemId < 1) return []
    const there = item.links.some((existing) => existing.type === link.type && existing.workItemId === workItemId)
    return there ? [] : [{ ...link, workItemId, url: azureDevOps.workItemUrl(workItemId) }]
  })
}
