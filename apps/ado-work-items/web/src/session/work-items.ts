import { type ReadonlySignal, signal } from '@preact/signals'
import type { Client } from '@x/client'
import * as z from 'zod'
import { explainFailure } from './explain-failure.ts'
import { textIn } from './result-text.ts'

const summary = z.object({
  id: z.number(),
  rev: z.number(),
  type: z.string(),
  title: z.string(),
  state: z.string(),
  assignedTo: z.string().optional(),
})
const listing = z.object({ workItems: z.array(summary), more: z.boolean() })
const whole = summary.extend({ fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) })

/** A work item as the list shows it. */
export type WorkItem = z.infer<typeof summary>
/** A work item with its fields by reference name. */
export type WholeWorkItem = z.infer<typeof whole>

/** The page's view of the work items. */
export interface WorkItems {
  /** Absent until the first list is there. */
  readonly items: ReadonlySignal<readonly WorkItem[] | undefined>
  /** `true` when the server has more than it listed. */
  readonly more: ReadonlySignal<boolean>
  /** The reason why there is no new list, in words. */
  readonly failure: ReadonlySignal<string | undefined>
  readonly selected: ReadonlySignal<WholeWorkItem | WorkItem | undefined>
  reload(): Promise<void>
  select(id: number): Promise<void>
}

/** Reads the work items through the server's own tools. */
export function createWorkItems(client: Client): WorkItems {
  const items = signal<readonly WorkItem[] | undefined>(undefined)
  const more = signal(false)
  const failure = signal<string | undefined>(undefined)
  const selected = signal<WholeWorkItem | WorkItem | undefined>(undefined)
  let reading = new AbortController()

  const read = async (id: number): Promise<void> => {
    reading.abort()
    reading = new AbortController()
    const { signal: mine } = reading
    try {
      const result = await client.callTool('get_work_item', { workItemId: id }, { signal: mine })
      const found = whole.safeParse(result.structuredContent)
      if (found.success && !mine.aborted) selected.value = found.data
    } catch (error) {
      if (!mine.aborted) failure.value = explainFailure(error)
    }
  }

  const reload = async (): Promise<void> => {
    try {
      const result = await client.callTool('list_work_items', {})
      const listed = listing.safeParse(result.structuredContent)
      failure.value = listed.success
        ? undefined
        : textIn(result.content) || 'The server listed nothing that is a work item.'
      if (!listed.success) return
      items.value = offeredFirst(listed.data.workItems)
      more.value = listed.data.more
    } catch (error) {
      failure.value = explainFailure(error)
    }
    if (selected.value !== undefined) await read(selected.value.id)
  }

  const select = async (id: number): Promise<void> => {
    selected.value = items.value?.find((item) => item.id === id)
    await read(id)
  }
  return { items, more, failure, selected, reload, select }
}

/** Puts the bugs first that can be resolved, as the page offers that. */
function offeredFirst(items: readonly WorkItem[]): readonly WorkItem[] {
  return [...items.filter(isOpenBug), ...items.filter((item) => !isOpenBug(item))]
}

/** Returns true for a bug that is not resolved yet. */
export function isOpenBug({ type, state }: WorkItem): boolean {
  return type === 'Bug' && (state === 'Active' || state === 'New')
}
