import { pageFile } from '@x/apps/node'
import { appTool } from '@x/apps/server'
import { type Tool, toolResult } from '@x/server'
import * as z from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { icons } from './icon.ts'
import { toFailedResult } from './tool-failure.ts'
import { toLine, toOutput, toResourceLink, workItemId, workItemOutput } from './work-item-output.ts'

/** The page that `web/work-item` builds, as one file. */
const pageUrl = new URL('../../dist-app/index.html', import.meta.url)

/** Creates `get_work_item`: one work item with all its fields and links, and a page that shows it. */
export function getWorkItem(azureDevOps: AzureDevOps): Tool {
  return appTool('get_work_item', {
    title: 'Get a work item',
    description: 'Read one work item: its fields by reference name, its links and its revision.',
    icons,
    input: z.object({ workItemId }),
    output: workItemOutput,
    page: { html: pageFile(pageUrl), prefersBorder: true },
    annotations: { readOnlyHint: true, openWorldHint: true },
    async run({ workItemId: id }, ctx) {
      try {
        const item = await azureDevOps.getWorkItem(id, ctx.signal)
        const text = [toLine(item), ...Object.entries(item.fields).map(([name, value]) => `${name}: ${value}`)].join(
          '\n',
        )
        return toolResult({
          content: [{ type: 'text', text }, toResourceLink(item, azureDevOps)],
          structuredContent: toOutput(item, azureDevOps),
        })
      } catch (error) {
        return toolResult(toFailedResult(error))
      }
    },
  })
}
