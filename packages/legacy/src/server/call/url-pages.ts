import { randomId } from '@x/core'
import { isJsonObject, type JsonObject } from '@x/schema'
import type { CallDeps } from './call-deps.ts'
import type { CallChannel } from './call-channel.ts'
import type { AcceptedPage } from './waiting-round.ts'

interface UrlPage {
  readonly elicitationId: string
  acceptedAt: number | undefined
  pollCount: number
}

const minPollIntervalMs = 1000
const maxPollIntervalMs = 5000

/** Pages that one call has asked its user to visit (client/elicitation, URL mode). */
export class UrlPages {
  readonly #channel: CallChannel
  readonly #deps: CallDeps
  readonly #pages: Map<string, UrlPage>

  /** Begins with the pages that the user of a resumed call has agreed to visit. */
  constructor(channel: CallChannel, deps: CallDeps, acceptedPages: readonly AcceptedPage[] = []) {
    this.#channel = channel
    this.#deps = deps
    this.#pages = new Map(acceptedPages.map(({ url, ...page }) => [url, { ...page, pollCount: 0 }]))
  }

  /** Within a call, a URL keeps its `elicitationId`. */
  getElicitationId(url: string): string {
    return this.#getOrCreatePage(url).elicitationId
  }

  /** Notes that the user has agreed to visit a page. */
  accept(url: string, elicitationId?: string): void {
    this.#getOrCreatePage(url, elicitationId).acceptedAt = this.#deps.now()
  }

  #getOrCreatePage(url: string, elicitationId = randomId()): UrlPage {
    const page = this.#pages.get(url) ?? { elicitationId, acceptedAt: undefined, pollCount: 0 }
    this.#pages.set(url, page)
    return page
  }

  /**
   * Answers for the user if the server asks again for a URL to which the user has already agreed, after a pause.
   * Undefined if the user has not agreed to the URL.
   */
  answerRepeatedQuestion(url: string): Promise<'accept' | 'cancel'> | undefined {
    const { now, settings, sleep } = this.#deps
    const page = this.#pages.get(url)
    if (page?.acceptedAt === undefined) return undefined
    if (now() - page.acceptedAt >= settings.answerTimeoutMs) return Promise.resolve('cancel')
    page.pollCount += 1
    const pauseMs = Math.min(maxPollIntervalMs, minPollIntervalMs * page.pollCount)
    return sleep(pauseMs, this.#channel.signal).then(() => 'accept')
  }

  /** Pages that the user has agreed to visit. */
  listAcceptedPages(): readonly AcceptedPage[] {
    return [...this.#pages].flatMap(([url, { elicitationId, acceptedAt }]) =>
      acceptedAt === undefined ? [] : [{ url, elicitationId, acceptedAt }],
    )
  }

  /**
   * Notifies the client of accepted pages that the server no longer asks for, because the user has completed them
   * (elicitation/complete).
   */
  notifyCompletedUrls(inputRequests: JsonObject = {}): void {
    const wantedUrls = collectUrls(inputRequests)
    for (const [url, { elicitationId, acceptedAt }] of this.#pages) {
      if (acceptedAt === undefined || wantedUrls.has(url)) continue
      this.#pages.delete(url)
      const method = 'notifications/elicitation/complete'
      this.#channel.notify({ jsonrpc: '2.0', method, params: { elicitationId } })
    }
  }
}

function collectUrls(requests: JsonObject): Set<string> {
  const urls = Object.values(requests).flatMap((request) => {
    const params = isJsonObject(request) ? request['params'] : undefined
    return isJsonObject(params) && typeof params['url'] === 'string' ? [params['url']] : []
  })
  return new Set(urls)
}
