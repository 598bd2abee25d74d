import { type Exchange, wrapExchange } from '@x/schema'
import { createServer, type ErrorPlace, type Server, type ServerDefinition } from '@x/server'
import { type Sessions, withSessions } from '@x/sessions/server'
import { type TaskOptions, type TaskServer, withTasks } from '@x/tasks/server'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import type { Conversation } from './conversation.ts'
import { createTools } from './create-tools.ts'
import { icons } from './icon.ts'
import { triagePrompt } from './triage-prompt.ts'
import { workItemResource } from './work-item-resource.ts'

/** What went wrong, and where, when it is nothing that a client may see. */
export type OnError = (error: unknown, where: ErrorPlace) => void

/** What the server takes from whoever runs it. */
export interface WorkItemsOptions {
  /** Seals what a call that asks leaves with its client; the same at every instance. Default: for this process alone. */
  readonly state?: ServerDefinition['state']
  readonly onError?: OnError | undefined
  /** Lets the server remember, within a session, what a conversation was about. Default: it has no sessions. */
  readonly conversations?: Sessions<Conversation> | undefined
  /** Where calls are kept that go on as tasks, and how they are worked on. Default: in this process alone. */
  readonly tasks?: TaskOptions | undefined
  /** Goes around every call, at the instance that works on it: around one of a task as well. Default: nothing does. */
  readonly around?: ((server: Exchange) => Exchange) | undefined
}

/** The MCP server for the work items of one project. Between two requests it keeps tasks alone. */
export function createWorkItemsServer(azureDevOps: AzureDevOps, options: WorkItemsOptions = {}): Server & TaskServer {
  const { conversations, around } = options
  const server = createServer({
    name: 'ado-work-items',
    title: 'Azure DevOps work items',
    version: '0.1.0',
    description: `Work items of ${azureDevOps.organization}/${azureDevOps.project}`,
    icons,
    instructions:
      'Read a work item before you change it, and give its rev when you do. When a rule of the process requires a field, the user is asked for it; where that is not possible the answer names it: call again with that field.',
    tools: createTools(azureDevOps, conversations),
    prompts: [triagePrompt(azureDevOps)],
    resourceTemplates: [workItemResource(azureDevOps)],
    state: options.state,
    onError: options.onError,
    // What is not a failure that we worded ourselves may say things that are nobody's business.
    describeError: () => 'The tool failed; the server has written down why.',
  })
  const worked = around === undefined ? server : wrapExchange(server, around(server))
  const tasking = withTasks(worked, options.tasks)
  return conversations === undefined ? tasking : withSessions(tasking, conversations)
}
