import {
  type InputRequest,
  isJsonObject,
  type JsonObject,
  offAbort,
  onAbort,
  type RpcNotification,
  type RpcResponse,
} from '@x/schema'
import { legacyQuestion } from '../translate/question.ts'
import type { CallChannel, LegacyCall } from './call-channel.ts'
import type { Deps } from './deps.ts'
import { randomId } from './random-id.ts'

/** The answers of one round by their keys, or why the call cannot go on. */
export type RoundOutcome =
  | { readonly answers: JsonObject; readonly involved: boolean }
  | { readonly failure: { readonly missing: JsonObject } | { readonly message: string } }

type Answer =
  | { readonly response: JsonObject; readonly involved: boolean }
  | Extract<RoundOutcome, { readonly failure: unknown }>

/** A call that asks, with the pages that its user was sent to. */
export interface AskingCall extends LegacyCall {
  readonly urls: UrlQuestions
}

/** Asks the client for everything that one round wants, all at once. */
export async function askClient(requests: JsonObject, call: AskingCall, deps: Deps): Promise<RoundOutcome> {
  const entries = Object.entries(requests)
  if (entries.length === 0) return { answers: {}, involved: true }
  // The exchange checks its requests before it answers with them.
  const asked = entries.map(([, request]) => askOne(request as unknown as InputRequest, call, deps))
  const answers = await Promise.all(asked)
  const failed = answers.find((answer) => 'failure' in answer)
  if (failed !== undefined) return failed
  const responses = answers.flatMap((answer, index): [string, JsonObject][] => {
    const [key = ''] = entries[index] ?? []
    return 'response' in answer ? [[key, answer.response]] : []
  })
  const involved = answers.some((answer) => 'involved' in answer && answer.involved)
  return { answers: Object.fromEntries(responses), involved }
}

async function askOne(request: InputRequest, call: AskingCall, deps: Deps): Promise<Answer> {
  const url = request.method === 'elicitation/create' && request.params.mode === 'url' ? request.params.url : undefined
  const again = url === undefined ? undefined : await call.urls.again(url)
  if (again !== undefined) return { response: { action: again }, involved: false }
  const elicitationId = url === undefined ? '' : call.urls.idOf(url)
  const question = legacyQuestion(request, call.client.revision, elicitationId)
  if ('missing' in question) return { failure: { missing: question.missing } }
  const answer = await waitForAnswer(question.request, call, deps)
  if (url !== undefined && 'response' in answer && answer.response['action'] === 'accept') call.urls.accept(url)
  return answer
}

function waitForAnswer(
  request: { readonly method: string; readonly params?: JsonObject | undefined },
  { channel }: AskingCall,
  deps: Deps,
): Promise<Answer> {
  const { signal, owner } = channel
  return new Promise((resolve, reject) => {
    const open =
      owner === undefined
        ? undefined
        : deps.questions.open(owner, (response) => {
            release()
            resolve(toAnswer(request.method, response))
          })
    if (open === undefined) return resolve(unanswered(request.method, 'The client has too many open questions'))
    const withdraw = (reason: string): void => {
      release()
      open.close()
      channel.notifyOfQuestion(cancelled(open.id, reason))
    }
    const stop = (): void => {
      withdraw('The call was cancelled')
      reject(signal.reason)
    }
    const cancelTimer = deps.schedule(() => {
      withdraw('No answer came in time')
      resolve(unanswered(request.method, 'The client did not answer in time'))
    }, deps.settings.answerTimeoutMs)
    const release = (): void => {
      cancelTimer()
      offAbort(signal, stop)
    }
    if (signal.aborted) return stop()
    onAbort(signal, stop)
    channel.ask({ jsonrpc: '2.0', id: open.id, ...request })
  })
}

function toAnswer(method: string, response: RpcResponse): Answer {
  if ('result' in response) return { response: response.result, involved: true }
  return unanswered(method, `The client answered ${method} with an error: ${response.error.message}`)
}

// A user who cannot be reached has cancelled, which the handler hears of; a model or a list of roots has no such answer.
function unanswered(method: string, message: string): Answer {
  if (method === 'elicitation/create') return { response: { action: 'cancel' }, involved: true }
  return { failure: { message } }
}

function cancelled(requestId: string | number, reason: string): RpcNotification {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } }
}

/** The pages that one call has sent its user to (client/elicitation, URL mode). */
export interface UrlQuestions {
  /** The `elicitationId` of a URL: one in a call. */
  idOf(url: string): string
  /** Notes that the user agreed to go there. */
  accept(url: string): void
  /**
   * The answer to a URL that is asked for again because the server is still waiting: the user is not bothered, and the server looks
   * again after a while. Undefined for a URL that the user has not agreed to.
   */
  again(url: string): Promise<'accept' | 'cancel' | undefined>
  /** Tells the client of pages that are not asked for any more (elicitation/complete). */
  complete(asked: JsonObject | undefined): void
}

interface Page {
  readonly elicitationId: string
  acceptedAt: number | undefined
  looks: number
}

const firstLookMs = 1000
const mostLookMs = 5000

/** Starts without pages. */
export function createUrlQuestions(channel: CallChannel, deps: Deps): UrlQuestions {
  const pages = new Map<string, Page>()
  const pageOf = (url: string): Page => {
    const page = pages.get(url) ?? { elicitationId: randomId(), acceptedAt: undefined, looks: 0 }
    pages.set(url, page)
    return page
  }
  return {
    idOf: (url) => pageOf(url).elicitationId,
    accept(url) {
      pageOf(url).acceptedAt = deps.now()
    },
    async again(url) {
      const page = pages.get(url)
      if (page?.acceptedAt === undefined) return undefined
      if (deps.now() - page.acceptedAt >= deps.settings.answerTimeoutMs) return 'cancel'
      page.looks += 1
      await deps.sleep(Math.min(mostLookMs, firstLookMs * page.looks), channel.signal)
      return 'accept'
    },
    complete(asked) {
      const wanted = asked === undefined ? new Set<string>() : urlsIn(asked)
      for (const [url, { elicitationId, acceptedAt }] of pages) {
        if (acceptedAt === undefined || wanted.has(url)) continue
        pages.delete(url)
        const method = 'notifications/elicitation/complete'
        channel.notify({ jsonrpc: '2.0', method, params: { elicitationId } })
      }
    },
  }
}

function urlsIn(requests: JsonObject): Set<string> {
  const urls = Object.values(requests).flatMap((request) => {
    const params = isJsonObject(request) ? request['params'] : undefined
    return isJsonObject(params) && typeof params['url'] === 'string' ? [params['url']] : []
  })
  return new Set(urls)
}
