import type { Context, Tool } from '@x/server'
import { sessions, type Sessions } from '@x/sessions/server'
import * as z from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { newValues } from './update-work-item.ts'

const conversation = z.object({
  project: z.string().optional(),
  workItemId: z.number().int().optional(),
})

/** The session state: the project and the work item that the conversation was about last. */
export type Conversation = z.infer<typeof conversation>

/** Defines the sessions of conversations. Every instance with the same keys can continue one. */
export function defineConversations(): Sessions<Conversation> {
  return sessions({ state: { schema: conversation, initial: {} } })
}

const aboutOne = z.object({ workItemId: z.number() })

/**
 * Wraps a tool so that a call records its work item in the session, unless it fails. Without a session the call is
 * unchanged.
 */
export function withSubjectRecord(inner: Tool, sessions: Sessions<Conversation>, azureDevOps: AzureDevOps): Tool {
  const { definition } = inner
  const run = async (args: unknown, ctx: Context): Promise<unknown> => {
    const result = await definition.run(args, ctx)
    const about = aboutOne.safeParse(args)
    // A result with `isError` does not change the state of its session.
    if (about.success)
      sessions.find(ctx)?.setState({ project: projectOf(azureDevOps), workItemId: about.data.workItemId })
    return result
  }
  return { ...inner, definition: { ...definition, run } }
}

const changes = z.object({ fields: newValues })

/**
 * Creates `update_last_work_item`, which handles requests such as "set it to Active". It calls `update_work_item` with
 * the work item that the session was about last, if that is in this project.
 */
export function updateLastWorkItem(update: Tool, sessions: Sessions<Conversation>, azureDevOps: AzureDevOps): Tool {
  const { definition } = update
  const project = projectOf(azureDevOps)
  const run = async (args: unknown, ctx: Context): Promise<unknown> => {
    const { state } = sessions.of(ctx)
    return definition.run({ ...changes.parse(args), workItemId: state.workItemId }, ctx)
  }
  return {
    name: 'update_last_work_item',
    definition: {
      ...definition,
      title: 'Change it',
      description: 'Change fields of the work item that this conversation was about last, as update_work_item does.',
      input: changes,
      // The tool is listed only in sessions that have a work item to refer to.
      visibleTo: sessions.when(({ state }) => state.project === project && state.workItemId !== undefined),
      run,
    },
  }
}

function projectOf({ organization, project }: AzureDevOps): string {
  return `${organization}/${project}`
}
