import type { ListMethod } from '../request/lists.ts'
import { staleLists } from './changes.ts'
import { endedError, type FreshPart, debounceWork } from './fresh-part.ts'

/** Reads a whole list, page by page. */
export type AskForList = (options: { readonly signal: AbortSignal }) => Promise<unknown>

/** The functions that read each list. */
export type AskForLists = Readonly<Record<ListMethod, AskForList>>

const allLists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true } as const

/**
 * Reads changed lists again, if a caller has read them before. Resolves when the signal aborts or the subscription ends
 * for good.
 */
export async function keepListsFresh(part: FreshPart, lists: AskForLists): Promise<void> {
  const { listen, partition, clock, jitterMs, options, signal, failed } = part
  const debounced = new Map(
    Object.entries(lists).map(([method, ask]) => {
      const work = async (): Promise<void> => void (await ask({ signal }))
      return [method, debounceWork({ work, failed, jitterMs, clock })]
    }),
  )
  // A list that is no longer cached was read before all the same.
  const asked = new Set<string>()
  const note = ({ method }: { readonly method: string }): void => void (debounced.has(method) && asked.add(method))
  partition.each(note)
  const unsubscribe = partition.onStored(note)
  const want = (changed: Iterable<string>): void => {
    for (const method of changed) if (asked.has(method)) debounced.get(method)?.want()
  }
  try {
    for await (const event of listen(allLists, options)) {
      if (event.type === 'opened') want(event.missed ? asked : [])
      else if (event.type !== 'resourceUpdated' && event.type !== 'interrupted') want(staleLists(event.type))
    }
    failed(endedError())
  } catch (error) {
    failed(error)
  } finally {
    unsubscribe()
    for (const one of debounced.values()) one.stop()
  }
}
