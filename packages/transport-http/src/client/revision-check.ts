import { type Clock, withTimeout } from '@x/core'
import { createCall } from '@x/exchange'
import { encodeMessage, isResponse, parseMessage, type RpcResponse } from '@x/schema'
import {
  discoverProbe,
  supportsDiscover,
  olderInitializeRequest,
  olderRevisionIn,
  olderServerMessage,
} from '@x/exchange/internal'
import type { HttpClient } from './http-client.ts'
import { HttpError, isHttpError } from './http-error.ts'
import type { HttpClientResponse } from './http-response.ts'
import type { CheckReply } from './endpoint-state.ts'

// With these, servers of earlier revisions reject a request that has no session or names an unknown revision.
const suspectStatuses: ReadonlySet<number | undefined> = new Set([400, 404, 405, 422])

/** Milliseconds that the server has to answer about its revision, because other responses wait for the answer. */
const checkTimeoutMs = 10_000

/**
 * Recognizes servers that implement only earlier revisions (basic/versioning, backward compatibility). After the first
 * response that may come from such a server, it is asked once for its revision. If it implements this one, its
 * responses are returned unchanged; if it does not answer in time, so is this response, and the next suspicious one
 * causes another check.
 */
export function createRevisionCheck(getClient: () => HttpClient, clock: Clock): CheckReply {
  let revisionPromise: Promise<string | undefined> | undefined
  return async (status, reply, request) => {
    if (!suspectStatuses.has(status) || request === discoverProbe) return reply
    const response = await reply.catch(() => undefined)
    if (response !== undefined && supportsDiscover(response)) return response
    const client = getClient()
    revisionPromise ??= findOlderRevisionInTime(client, clock).catch((error: unknown) => {
      if (isHttpError(error) && error.code === 'timeout') revisionPromise = undefined
      return undefined
    })
    const revision = await revisionPromise
    if (revision === undefined) return reply
    const { origin } = new URL(client.url)
    const advice = 'connectAny of @x/legacy/client speaks both'
    const message = `${olderServerMessage(revision)}; ${advice}`
    throw new HttpError('unsupported_version', message, { origin, status })
  }
}

function findOlderRevisionInTime(client: HttpClient, clock: Clock): Promise<string | undefined> {
  const message = `The server did not answer about its revision within ${checkTimeoutMs} ms`
  const createTimeoutError = (): Error => new HttpError('timeout', message, { origin: new URL(client.url).origin })
  const options = { timeoutMs: checkTimeoutMs, clock, createTimeoutError, signal: client.closed }
  return withTimeout(options, (signal) => findOlderRevision(client, signal))
}

async function findOlderRevision(client: HttpClient, signal: AbortSignal): Promise<string | undefined> {
  if (await isCurrentRevisionServer(client, signal)) return undefined
  const body = encodeMessage(olderInitializeRequest)
  const response = await client.send({
    method: 'POST',
    body,
    rpcRequest: olderInitializeRequest,
    signal,
  })
  const rpcResponse = await readInitializeResponse(client, response)
  const revision = rpcResponse && olderRevisionIn(rpcResponse)
  await endProbedSession(client, response.header('mcp-session-id'), revision)
  return revision
}

async function isCurrentRevisionServer({ exchange }: HttpClient, signal: AbortSignal): Promise<boolean> {
  try {
    return supportsDiscover(await exchange(discoverProbe, createCall({ signal })))
  } catch (error) {
    if (isHttpError(error) && suspectStatuses.has(error.status)) return false
    throw error
  }
}

function readInitializeResponse(
  { bounds }: HttpClient,
  response: HttpClientResponse,
): Promise<RpcResponse | undefined> {
  return new Promise((resolve, reject) => {
    const resolveWithResponse = (text: string): void => {
      const message = parseMessage(text, bounds)
      if (!isResponse(message)) return
      resolve(message)
      response.stop()
    }
    const readPromise =
      response.type === 'text/event-stream'
        ? response.readEvents({
            maxBytes: bounds.bytes,
            onEvent: ({ data }) => data !== '' && resolveWithResponse(data),
          })
        : response.text().then(resolveWithResponse)
    readPromise.then(() => resolve(undefined), reject)
  })
}

/** That session was started only to find the server's revision. */
async function endProbedSession(
  { send, closed }: HttpClient,
  sessionId: string | undefined,
  revision = '',
): Promise<void> {
  if (sessionId === undefined) return
  const headers = { 'mcp-session-id': sessionId, 'mcp-protocol-version': revision }
  const deleteResponse = await send({
    method: 'DELETE',
    headers,
    rpcRequest: olderInitializeRequest,
    signal: closed,
  }).catch(() => undefined)
  deleteResponse?.stop()
}
