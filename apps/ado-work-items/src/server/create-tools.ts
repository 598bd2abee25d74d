import type { Tool } from '@x/server'
import type { Sessions } from '@x/sessions/server'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { type Conversation, updateLastWorkItem, withSubjectRecord } from './conversation.ts'
import { getWorkItem } from './get-work-item.ts'
import { listWorkItems } from './list-work-items.ts'
import { updateWorkItem } from './update-work-item.ts'
import { updateWorkItems } from './update-work-items.ts'

/** Creates the tools of the server. They record the work item of each call in its session, and read it from there. */
export function createTools(azureDevOps: AzureDevOps, conversations: Sessions<Conversation>): Tool[] {
  const update = updateWorkItem(azureDevOps)
  return [
    listWorkItems(azureDevOps),
    withSubjectRecord(getWorkItem(azureDevOps), conversations, azureDevOps),
    withSubjectRecord(update, conversations, azureDevOps),
    updateWorkItems(azureDevOps),
    updateLastWorkItem(update, conversations, azureDevOps),
  ]
}
