import type { Context, Tool } from '@x/server'
import { sessions, type Sessions } from '@x/sessions/server'
import * as z from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { newValues } from './update-work-item.ts'

const conversation = z.object({
  project: z.string().optional(),
  workItemId: z.number().int().optional(),
})

/** The last subject of a conversation: the project, and the work item in it. */
export type Conversation = z.infer<typeof conversation>

/** Conversations, which every instance with the same keys can continue. */
export function defineConversations(): Sessions<Conversation> {
  return sessions({ state: { schema: conversation, initial: {} } })
}

const aboutOne = z.object({ workItemId: z.number() })
const failed = z.object({ isError: z.literal(true) })

/** The same tool, which notes in its conversation what work item it was called with. Outside of one nothing changes. */
export function withSubjectRecord(inner: Tool, sessions: Sessions<Conversation>, azureDevOps: AzureDevOps): Tool {
  const { definition } = inner
  const run = async (args: unknown, ctx: Context): Promise<unknown> => {
    const result = await definition.run(args, ctx)
    const about = aboutOne.safeParse(args)
    if (about.success && !failed.safeParse(result).success) {
      sessions.find(ctx)?.setState({ project: projectOf(azureDevOps), workItemId: about.data.workItemId })
    }
    return result
  }
  return { ...inner, definition: { ...definition, run } }
}

const changes = z.object({ fields: newValues })

/**
 * `update_last_work_item`, for "set it to Active": `update_work_item` for a conversation that was about a work item of
 * this project.
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
      // Only here is there an "it"; elsewhere the tool does not exist.
      visibleTo: sessions.when(({ state }) => state.project === project && state.workItemId !== undefined),
      run,
    },
  }
}

function projectOf({ organization, project }: AzureDevOps): string {
  return `${organization}/${project}`
}
