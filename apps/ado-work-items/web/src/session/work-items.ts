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

/** A work item in the list. */
export type WorkItem = z.infer<typeof summary>
/** A work item with its fields by reference name. */
export type WholeWorkItem = z.infer<typeof whole>

/** The work items that the page shows. */
export interface WorkItems {
  /** The listed work items. Undefined until the first list has arrived. */
  readonly items: ReadonlySignal<readonly WorkItem[] | undefined>
  /** `true` if the server has more work items than it listed. */
  readonly more: ReadonlySignal<boolean>
  /** The error of the last attempt to read the list. Undefined after a success. */
  readonly failure: ReadonlySignal<string | undefined>
  readonly selected: ReadonlySignal<WholeWorkItem | WorkItem | undefined>
  reload(): Promise<void>
  select(id: number): Promise<void>
}

/** Creates the work items of the page, which are read with the tools of the server. */
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

/** Moves the bugs that can be resolved to the front. */
function offeredFirst(items: readonly WorkItem[]): readonly WorkItem[] {
  return [...items.filter(isOpenBug), ...items.filter((item) => !isOpenBug(item))]
}

/** Returns true for a bug that is not resolved. */
export function isOpenBug({ type, state }: WorkItem): boolean {
  return type === 'Bug' && (state === 'Active' || state === 'New')
}
