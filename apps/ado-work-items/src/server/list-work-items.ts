import { type Tool, tool, toolResult } from '@x/server'
import * as z from 'zod'
import type { AzureDevOps, Found } from '../azure-devops/create-azure-devops.ts'
import { icons } from './icon.ts'
import { toFailedResult } from './tool-failure.ts'
import { toLine, toSummary, workItemSummary } from './work-item-output.ts'

const shortText = z.string().trim().min(1).max(256)

/** The input schema of the search filters, shared by the tools that search. */
export const searchFilters = {
  state: shortText.optional().describe('Such as New, Active, Resolved or Closed'),
  type: shortText.optional().describe('Such as Bug, User Story or Task'),
  assignedTo: shortText.optional().describe('A name or an address, or "me"'),
  text: shortText.optional().describe('What the title contains'),
}

/** Creates `list_work_items`: the work items that match every given filter, the most recently changed first. */
export function listWorkItems(azureDevOps: AzureDevOps): Tool {
  return tool('list_work_items', {
    title: 'List work items',
    description:
      'List the work items that match every given filter, the last changed first. Without filters: all of them.',
    icons,
    input: z.object({
      ...searchFilters,
      top: z.number().int().min(1).max(200).default(50).describe('How many at most'),
    }),
    output: z.object({
      workItems: z.array(workItemSummary),
      more: z.boolean().describe('Whether there are more than were listed'),
    }),
    annotations: { readOnlyHint: true, openWorldHint: true },
    async run({ top, ...filters }, ctx) {
      try {
        const found = await azureDevOps.findWorkItems({ filters, top }, ctx.signal)
        return toolResult({
          content: [{ type: 'text', text: describe(found) }],
          structuredContent: {
            workItems: found.workItems.map((item) => toSummary(item, azureDevOps)),
            more: found.more,
          },
        })
      } catch (error) {
        return toolResult(toFailedResult(error))
      }
    },
  })
}

function describe({ workItems, more }: Found): string {
  if (workItems.length === 0) return 'No work item matches.'
  return [...workItems.map(toLine), ...(more ? ['There are more; narrow the filters or raise top.'] : [])].join('\n')
}
