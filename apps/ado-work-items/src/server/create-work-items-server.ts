import type { Middleware, ServerExtension } from '@x/exchange'
import { createServer, type McpServer, type ServerDefinition, type StateCodec } from '@x/server'
import { type TaskOptions, tasks, type TasksApi } from '@x/tasks/server'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { defineConversations } from './conversation.ts'
import { createTools } from './create-tools.ts'
import { createExtensions } from './extensions.ts'
import { icons } from './icon.ts'
import { triagePrompt } from './triage-prompt.ts'
import { workItemResource } from './work-item-resource.ts'

/** The dependencies of the server, and the parts of its definition that tests replace. */
export interface WorkItemsOptions
  extends Partial<Pick<ServerDefinition, 'strictReplay' | 'log' | 'runtime' | 'shedding'>> {
  /**
   * Seals the state of calls that wait for input, and the session ids of older clients. All instances need the same
   * keys. Default: a codec of this process alone.
   */
  readonly state?: StateCodec | undefined
  /** The storage and the workers of tasks. Default: this process alone. */
  readonly tasks?: TaskOptions | undefined
  /** Middleware around every request, the first outermost. */
  readonly use?: readonly Middleware[] | undefined
  /** Further extensions. Their middleware also wraps the calls that tasks continue. */
  readonly extensions?: readonly ServerExtension[] | undefined
}

/** The MCP server for the work items of one project. */
export type WorkItemsServer = McpServer & { readonly tasks: TasksApi }

/** Creates the server. Between two requests it stores nothing but tasks. */
export function createWorkItemsServer(azureDevOps: AzureDevOps, options: WorkItemsOptions = {}): WorkItemsServer {
  const { extensions = [], tasks: taskOptions, ...others } = options
  const conversations = defineConversations()
  return createServer({
    name: 'ado-work-items',
    title: 'Azure DevOps work items',
    version: '0.1.0',
    description: `Work items of ${azureDevOps.organization}/${azureDevOps.project}`,
    icons,
    instructions:
      'Read a work item before you change it, and give its rev when you do. When a rule of the process requires a field, the user is asked for it; where that is not possible the answer names it: call again with that field. Skills say how to triage a bug and how to resolve many work items: skill://triage-bug/SKILL.md, skill://resolve-in-bulk/SKILL.md.',
    tools: createTools(azureDevOps, conversations),
    prompts: [triagePrompt(azureDevOps)],
    resourceTemplates: [workItemResource(azureDevOps)],
    ...others,
    extensions: [tasks(taskOptions), ...createExtensions(options.state), conversations, ...extensions],
  })
}
