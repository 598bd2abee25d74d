import type { Tool } from '@x/server'
import type { Sessions } from '@x/sessions/server'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { type Conversation, updateLastWorkItem, withSubjectRecord } from './conversation.ts'
import { getWorkItem } from './get-work-item.ts'
import { listWorkItems } from './list-work-items.ts'
import { updateWorkItem } from './update-work-item.ts'
import { updateWorkItems } from './update-work-items.ts'

/**
 * Creates the tools of the server. With `conversations`, they record the work item of each call in the session and read
 * it from there.
 */
export function createTools(azureDevOps: AzureDevOps, conversations: Sessions<Conversation> | undefined): Tool[] {
  const list = listWorkItems(azureDevOps)
  const get = getWorkItem(azureDevOps)
  const update = updateWorkItem(azureDevOps)
  const updateMany = updateWorkItems(azureDevOps)
  if (conversations === undefined) return [list, get, update, updateMany]
  return [
    list,
    withSubjectRecord(get, conversations, azureDevOps),
    withSubjectRecord(update, conversations, azureDevOps),
    updateMany,
    updateLastWorkItem(update, conversations, azureDevOps),
  ]
}
