import type { Clock } from '@x/core'
import {
  type ClientCapabilities,
  type InputRequest,
  isJsonObject,
  type JsonValue,
  type RpcNotification,
  type RpcResponse,
  findMissingCapabilities,
} from '@x/schema'
import { parseQuestion } from './question.ts'
import type { LegacySession } from './session.ts'

/** 2025-11-25 alone has this code, for URLs that a user must visit before a request can succeed. */
const urlElicitationRequiredCode = -32042
const maxUrls = 20
const completionTimeoutMs = 2000

/** A URL that a server requires the user to visit. */
export interface RequiredUrl {
  readonly elicitationId: string
  readonly input: InputRequest
}

/**
 * Reads the URLs that an error response requires. There are none in any other response, or if the client has not
 * declared URL elicitation.
 */
export function parseRequiredUrls(
  response: RpcResponse,
  declaredCapabilities: ClientCapabilities,
): readonly RequiredUrl[] {
  if (!('error' in response) || response.error.code !== urlElicitationRequiredCode) return []
  const { data } = response.error
  const elicitations = isJsonObject(data) ? data['elicitations'] : undefined
  if (
    !Array.isArray(elicitations) ||
    elicitations.length > maxUrls ||
    findMissingCapabilities(declaredCapabilities, { elicitation: { url: {} } })
  )
    return []
  const urls = elicitations.flatMap((entry: JsonValue): RequiredUrl[] => {
    if (!isJsonObject(entry) || typeof entry['elicitationId'] !== 'string') return []
    const params = { ...entry, mode: 'url' }
    const parsedQuestion = parseQuestion(
      { jsonrpc: '2.0', id: 0, method: 'elicitation/create', params },
      declaredCapabilities,
    )
    return 'question' in parsedQuestion
      ? [{ elicitationId: entry['elicitationId'], input: parsedQuestion.question }]
      : []
  })
  return urls.length === elicitations.length ? urls : []
}

/**
 * Listens to `notifications/elicitation/complete`. The returned function resolves once it has arrived for every URL, or
 * after two seconds, because servers need not send it.
 */
export function watchUrlCompletion(
  session: LegacySession,
  urls: readonly RequiredUrl[],
  clock: Clock,
): () => Promise<void> {
  const openElicitationIds = new Set(urls.map(({ elicitationId }) => elicitationId))
  let onComplete = (): void => {}
  const listener = ({ method, params }: RpcNotification): void => {
    if (method !== 'notifications/elicitation/complete') return
    if (typeof params?.['elicitationId'] === 'string') openElicitationIds.delete(params['elicitationId'])
    if (openElicitationIds.size === 0) onComplete()
  }
  session.listeners.add(listener)
  return () =>
    new Promise((resolve) => {
      const timer = clock.setTimeout(() => onComplete(), completionTimeoutMs)
      onComplete = () => {
        clock.clearTimeout(timer)
        session.listeners.delete(listener)
        resolve()
      }
      if (openElicitationIds.size === 0) onComplete()
    })
}
