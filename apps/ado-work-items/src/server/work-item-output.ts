import * as z from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { WorkItem } from '../azure-devops/work-item.ts'

/** The input schema of a work item's id. */
export const workItemId = z.number().int().min(1).max(2_147_483_647).describe('The id of the work item, such as 4522')

const fieldValue = z.union([z.string(), z.number(), z.boolean()])

/** The output schema of a work item in a list. */
export const workItemSummary = z.object({
  id: z.number().int(),
  rev: z.number().int().describe('The revision; give it to update_work_item to change only what was read'),
  type: z.string(),
  title: z.string(),
  state: z.string(),
  assignedTo: z.string().optional(),
  resource: z.string().describe('The URI of the work item as a resource'),
})

/** The output schema of a work item with all fields and links. */
export const workItemOutput = workItemSummary.extend({
  fields: z.record(z.string(), fieldValue).describe('Every field, by reference name'),
  links: z.array(z.object({ type: z.string(), url: z.string(), workItemId: z.number().int().optional() })),
})

/** The parsed value of {@link workItemSummary}. */
export type WorkItemSummary = z.infer<typeof workItemSummary>
/** The parsed value of {@link workItemOutput}. */
export type WorkItemOutput = z.infer<typeof workItemOutput>

/** The URI template of work items as resources. */
export const workItemUriTemplate = 'ado://{organization}/{project}/workitems/{id}'

/** Returns the URI of a work item as a resource. */
export function workItemUri(
  { organization, project }: Pick<AzureDevOps, 'organization' | 'project'>,
  id: number,
): string {
  return `ado://${encodeURIComponent(organization)}/${encodeURIComponent(project)}/workitems/${id}`
}

/** Converts a work item to its form in lists. */
export function toSummary(item: WorkItem, azureDevOps: AzureDevOps): WorkItemSummary {
  const { id, rev, type, title, state, assignedTo } = item
  const resource = workItemUri(azureDevOps, id)
  return { id, rev, type, title, state, ...(assignedTo === undefined ? {} : { assignedTo }), resource }
}

/** Converts a work item to its form with all fields and links. */
export function toOutput(item: WorkItem, azureDevOps: AzureDevOps): WorkItemOutput {
  const links = item.links.map(({ workItemId: other, ...link }) =>
    other === undefined ? link : { ...link, workItemId: other },
  )
  return { ...toSummary(item, azureDevOps), fields: { ...item.fields }, links }
}

/** The properties that the line about a work item shows. */
type Headline = Pick<WorkItem, 'id' | 'type' | 'state' | 'title'>

/** Describes a work item in one line: `Bug #4522 (Active): Discount code lost …`. */
export function toLine(item: Headline): string {
  return `${item.type} #${item.id} (${item.state}): ${item.title}`
}

/** Returns a content block that links to the work item's resource. */
export function toResourceLink(
  item: Headline,
  azureDevOps: AzureDevOps,
): { type: 'resource_link'; uri: string; name: string; title: string; mimeType: string } {
  return {
    type: 'resource_link',
    uri: workItemUri(azureDevOps, item.id),
    name: `work item ${item.id}`,
    title: toLine(item),
    mimeType: 'application/json',
  }
}
