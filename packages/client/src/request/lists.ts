import { errorCodes } from '@x/schema'
import { ClientError, isClientError } from './client-error.ts'
import type { CompleteResults } from './complete-results.ts'
import type { ReadOptions } from './call-options.ts'
import { type ClientState, errorContextOf } from './client-state.ts'
import type { SendRequest } from './request.ts'

export type ListMethod = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'

/** A list, to be read item by item as its pages arrive, or as a whole. */
export interface List<Item> {
  each(options?: ReadOptions): AsyncGenerator<Item, void, undefined>
  toArray(options?: ReadOptions): Promise<Item[]>
}

export interface ListContext {
  readonly send: SendRequest
  readonly clientState: ClientState
  readonly clearCache: (method: string) => void
}

/**
 * Reads a list page by page (server/utilities/pagination). `keyOf` identifies an item: if a list must be read again from
 * its first page, items already returned are skipped by this key.
 */
export function createList<M extends ListMethod, Item>(
  {
    method,
    itemsOf,
    keyOf,
  }: {
    readonly method: M
    readonly itemsOf: (page: CompleteResults[M]) => readonly Item[]
    readonly keyOf: (item: Item) => string
  },
  context: ListContext,
): List<Item> {
  return {
    each: async function* (options = {}) {
      const yieldedKeys = new Set<string>()
      for await (const { page, isRepeated } of fetchPages(method, options, context)) {
        for (const item of itemsOf(page)) {
          const key = keyOf(item)
          if (isRepeated && yieldedKeys.has(key)) continue
          yieldedKeys.add(key)
          yield item
        }
      }
    },
    toArray: async (options = {}) => {
      let items: Item[] = []
      let wasRestarted = false
      for await (const { page, isRepeated } of fetchPages(method, options, context)) {
        if (isRepeated && !wasRestarted) items = []
        wasRestarted = isRepeated
        for (const item of itemsOf(page)) items.push(item)
      }
      return items
    },
  }
}

/**
 * Yields pages. `isRepeated` is true once the list is read again from its first page, because the server no longer knew
 * a cursor.
 */
async function* fetchPages<M extends ListMethod>(
  method: M,
  options: ReadOptions,
  { send, clientState, clearCache }: ListContext,
): AsyncGenerator<{ readonly page: CompleteResults[M]; readonly isRepeated: boolean }, void, undefined> {
  const { maxPages, maxListSize } = clientState.constants
  const endlessListError = (reason: string): ClientError =>
    new ClientError('endless_list', reason, errorContextOf({ method, params: {} }, clientState))
  const cursors = new Set<string>()
  let callOptions = options
  let cursor: string | undefined
  let isRestarted = false
  let laterPagesCharacterCount = 0
  for (let pageCount = 0; pageCount < maxPages; pageCount += 1) {
    let page: CompleteResults[M]
    try {
      page = await send({ method, params: cursor === undefined ? {} : { cursor } }, callOptions)
    } catch (error) {
      if (isListUnknown(error, cursor)) return
      if (isRestarted || !isCursorRejected(error, cursor)) throw error
      // server/utilities/caching, interaction with pagination: an invalid cursor makes every page stale.
      clearCache(method)
      callOptions = { ...options, refresh: true }
      cursor = undefined
      cursors.clear()
      isRestarted = true
      continue
    }
    // Attack: endless large pages, all of which would stay in memory. The first page is not counted, because the
    // transport limits its size and most lists have no other.
    if (pageCount > 0) laterPagesCharacterCount += JSON.stringify(page).length
    checkListSize(laterPagesCharacterCount, maxListSize, endlessListError)
    yield { page, isRepeated: isRestarted }
    cursor = nextCursorOf(page)
    if (cursor === undefined) return
    if (cursors.has(cursor)) throw endlessListError('the server gave the same cursor twice')
    cursors.add(cursor)
  }
  throw endlessListError(`the list has more than ${maxPages} pages`)
}

function checkListSize(
  totalLength: number,
  maxListSize: number,
  endlessListError: (reason: string) => ClientError,
): void {
  if (totalLength <= maxListSize) return
  throw endlessListError(`its pages have more than ${maxListSize} characters`)
}

/** An empty string is a cursor by the specification, yet some servers mean by it that there is no next page. */
function nextCursorOf({ nextCursor }: { readonly nextCursor?: string | undefined }): string | undefined {
  return nextCursor === '' ? undefined : nextCursor
}

function isListUnknown(error: unknown, cursor: string | undefined): boolean {
  return cursor === undefined && isClientError(error) && error.rpc?.code === errorCodes.methodNotFound
}

function isCursorRejected(error: unknown, cursor: string | undefined): boolean {
  return cursor !== undefined && isClientError(error) && error.rpc?.code === errorCodes.invalidParams
}
