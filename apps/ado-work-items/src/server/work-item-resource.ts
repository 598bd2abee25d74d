import { type ResourceTemplate, resourceNotFoundError, resourceTemplate } from '@x/server'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { completeIds } from './complete-ids.ts'
import { toProtocolError } from './protocol-error.ts'
import { toOutput, workItemUriTemplate } from './work-item-output.ts'

/** Creates the resource template of work items. Each one is JSON with the fields and the links. */
export function workItemResource(azureDevOps: AzureDevOps): ResourceTemplate {
  return resourceTemplate(workItemUriTemplate, {
    name: 'work-item',
    title: 'Work item',
    description: 'A work item with its fields by reference name, its links and its revision',
    mimeType: 'application/json',
    complete: {
      organization: (value) => matching(azureDevOps.organization, value),
      project: (value) => matching(azureDevOps.project, value),
      id: (value, { ctx }) => completeIds(value, azureDevOps, ctx.signal),
    },
    async read({ organization, project, id }, ctx) {
      const here = organization === azureDevOps.organization && project === azureDevOps.project
      const uri = `ado://${organization}/${project}/workitems/${id}`
      if (!here || !/^[1-9]\d{0,9}$/.test(id)) throw resourceNotFoundError(uri)
      try {
        const item = await azureDevOps.getWorkItem(Number(id), ctx.signal)
        return JSON.stringify(toOutput(item, azureDevOps), null, 2)
      } catch (error) {
        if (error instanceof AzureDevOpsError && error.code === 'not_found') throw resourceNotFoundError(uri)
        throw toProtocolError(error)
      }
    },
  })
}

function matching(known: string, typed: string): string[] {
  return known.toLowerCase().startsWith(typed.toLowerCase()) ? [known] : []
}
