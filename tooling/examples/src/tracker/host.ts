import { type Client, createClient, type TypesOf } from '@x/client'
import { type TerminalOptions, terminalHandlers } from '@x/cli/terminal'
import type { Connection } from '@x/exchange'
import { tasksClient } from '@x/tasks/client'
import type { server } from './server.ts'

/** The tools and prompts of the tracker. */
export interface Tracker extends TypesOf<typeof server> {}

/** Connects to a tracker whose questions the user answers in a terminal. */
export function openTracker(connection: Connection, terminal?: TerminalOptions): Client<Tracker> {
  return createClient<Tracker>(connection, {
    name: 'tracker-host',
    version: '1.0.0',
    ...terminalHandlers(terminal),
    extensions: [tasksClient()],
  })
}

/** Creates, assigns and closes an issue. The user enters the title and the resolution. */
export async function completeIssue(tracker: Client<Tracker>, assignee: string): Promise<string> {
  const created = await tracker.tools.create_issue({})
  const number = created.structuredContent?.id
  if (number === undefined) return 'The user gave no title'
  await tracker.tools.assign_issue({ id: number, assignee })
  await tracker.tools.comment_issue({ id: number, body: 'I am on it' })
  const { structuredContent } = await tracker.tools.close_issue({ id: number })
  return `Issue ${number} of ${structuredContent?.assignee} is ${structuredContent?.resolution}`
}

/** Imports issues, and shows the progress. */
export async function importAll(
  tracker: Client<Tracker>,
  titles: string[],
  show: (line: string) => void,
): Promise<readonly number[]> {
  const onProgress = ({ progress = 0, total = 0 }): void => show(`${progress} of ${total}`)
  const { structuredContent } = await tracker.tools.import_issues({ titles }, { onProgress })
  return structuredContent?.ids ?? []
}

/** Lists the open issues of a person. */
export async function listOpen(tracker: Client<Tracker>, assignee: string): Promise<readonly string[]> {
  const { structuredContent } = await tracker.tools.find_issues({ by: 'assignee', assignee })
  return (structuredContent?.issues ?? []).filter(({ state }) => state === 'open').map(({ title }) => title)
}
