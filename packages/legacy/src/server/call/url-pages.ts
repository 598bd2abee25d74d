import { randomId } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { CallDeps } from './call-deps.ts'
import type { CallChannel } from './call-channel.ts'
import type { AcceptedPage } from './waiting-round.ts'

/** Pages that one call has asked its user to visit (client/elicitation, URL mode). */
export interface UrlPages {
  /** Within a call, a URL keeps its `elicitationId`. */
  getElicitationId(url: string): string
  /** Notes that the user has agreed to visit a page. */
  accept(url: string, elicitationId?: string): void
  /**
   * Answers for the user if the server asks again for a URL to which the user has already agreed, after a pause.
   * Undefined if the user has not agreed to the URL.
   */
  answerRepeatedQuestion(url: string): Promise<'accept' | 'cancel'> | undefined
  /** Pages that the user has agreed to visit. */
  listAcceptedPages(): readonly AcceptedPage[]
  /**
   * Notifies the client of accepted pages that the server no longer asks for, because the user has completed them
   * (elicitation/complete).
   */
  notifyCompletedUrls(inputRequests: JsonObject | undefined): void
}

interface UrlPage {
  readonly elicitationId: string
  acceptedAt: number | undefined
  pollCount: number
}

const minPollIntervalMs = 1000
const maxPollIntervalMs = 5000

/** Begins with the pages that the user of a resumed call has agreed to visit. */
export function createUrlPages(
  channel: CallChannel,
  deps: CallDeps,
  acceptedPages: readonly AcceptedPage[] = [],
): UrlPages {
  const pages = new Map<string, UrlPage>(acceptedPages.map(({ url, ...page }) => [url, { ...page, pollCount: 0 }]))
  const getOrCreatePage = (url: string, elicitationId = randomId()): UrlPage => {
    const page = pages.get(url) ?? { elicitationId, acceptedAt: undefined, pollCount: 0 }
    pages.set(url, page)
    return page
  }
  return {
    getElicitationId: (url) => getOrCreatePage(url).elicitationId,
    accept(url, elicitationId) {
      getOrCreatePage(url, elicitationId).acceptedAt = deps.now()
    },
    answerRepeatedQuestion(url) {
      const page = pages.get(url)
      if (page?.acceptedAt === undefined) return undefined
      if (deps.now() - page.acceptedAt >= deps.settings.answerTimeoutMs) return Promise.resolve('cancel')
      page.pollCount += 1
      return deps
        .sleep(Math.min(maxPollIntervalMs, minPollIntervalMs * page.pollCount), channel.signal)
        .then(() => 'accept')
    },
    listAcceptedPages: () =>
      [...pages].flatMap(([url, { elicitationId, acceptedAt }]) =>
        acceptedAt === undefined ? [] : [{ url, elicitationId, acceptedAt }],
      ),
    notifyCompletedUrls(inputRequests) {
      const wantedUrls = inputRequests === undefined ? new Set<string>() : collectUrls(inputRequests)
      for (const [url, { elicitationId, acceptedAt }] of pages) {
        if (acceptedAt === undefined || wantedUrls.has(url)) continue
        pages.delete(url)
        const method = 'notifications/elicitation/complete'
        channel.notify({ jsonrpc: '2.0', method, params: { elicitationId } })
      }
    },
  }
}

function collectUrls(requests: JsonObject): Set<string> {
  const urls = Object.values(requests).flatMap((request) => {
    const params = isJsonObject(request) ? request['params'] : undefined
    return isJsonObject(params) && typeof params['url'] === 'string' ? [params['url']] : []
  })
  return new Set(urls)
}
