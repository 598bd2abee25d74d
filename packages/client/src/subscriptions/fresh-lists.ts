import type { ListMethod } from '../request/lists.ts'
import { staleListMethods } from '../caching/changes.ts'
import { subscriptionEndedError, type RefreshContext, debounceWork } from './refresh-context.ts'

export type ListFetcher = (options: { readonly signal: AbortSignal }) => Promise<unknown>

export type ListFetchers = Readonly<Record<ListMethod, ListFetcher>>

const allListsFilter = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true } as const

/**
 * Reads changed lists again, but only those that a caller has read before. Resolves when the signal aborts, or the
 * subscription ends for good.
 */
export async function keepListsFresh(context: RefreshContext, listFetchers: ListFetchers): Promise<void> {
  const { listen, partition, options, signal, onError } = context
  const debouncedFetches = new Map(
    Object.entries(listFetchers).map(([method, listFetcher]) => {
      const fetchList = async (): Promise<void> => void (await listFetcher({ signal }))
      return [method, debounceWork(fetchList, onError, context)]
    }),
  )
  // Once read, a list is kept fresh even if it is no longer in the cache. Bounded by the methods of lists.
  const requestedMethods = new Set<string>()
  const noteRequestedMethod = ({ method }: { readonly method: string }): void =>
    void (debouncedFetches.has(method) && requestedMethods.add(method))
  partition.forEach(noteRequestedMethod)
  const unsubscribe = partition.onStored(noteRequestedMethod)
  const requestFetches = (changedMethods: Iterable<string>): void => {
    for (const method of changedMethods) if (requestedMethods.has(method)) debouncedFetches.get(method)?.schedule()
  }
  try {
    for await (const event of listen(allListsFilter, options)) {
      if (event.type === 'opened') requestFetches(event.mayHaveMissedChanges ? requestedMethods : [])
      else if (event.type !== 'resourceUpdated' && event.type !== 'interrupted')
        requestFetches(staleListMethods(event.type))
    }
    onError(subscriptionEndedError())
  } catch (error) {
    onError(error)
  } finally {
    unsubscribe()
    for (const debouncedFetch of debouncedFetches.values()) debouncedFetch.stop()
  }
}
