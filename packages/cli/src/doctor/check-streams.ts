import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type Finding, ok, skipped, type Target, wrong } from './check.ts'
import { checkScopes } from './check-auth.ts'
import { isModern } from './check-revision.ts'
import { acceptedCompressions, describeReply, errorOf, isEventStream, isUnavailable, type Reply } from './http-probe.ts'
import { sendRpc, unavailable } from './rpc-probe.ts'

/** A second request uses the connection of the first. */
export async function checkKeepAlive(target: Target): Promise<Finding> {
  const { served } = target
  if (served === undefined) return skipped('No request is served.')
  const agent = new (target.url.protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: 1 })
  try {
    const probe = { ...served, http: { agent } }
    const replies = [await sendRpc(target, probe), await sendRpc(target, probe)]
    const outage = replies.find(isUnavailable)
    if (outage !== undefined) return unavailable('The server', outage)
    const [first, second] = replies
    if (first?.localPort !== undefined && first.localPort === second?.localPort)
      return ok('A connection serves several requests.')
    return wrong(
      'The connection is closed after each request.',
      'Keep connections open (keep-alive): otherwise each call pays for a new one, and for TLS.',
    )
  } finally {
    agent.destroy()
  }
}

/** The first event repeats the id. A proxy compresses no answer that begins with few bytes. */
const longId = `mcpx-doctor-${'x'.repeat(1200)}`

/** A proxy that buffers holds the first event back. */
const acknowledgementMs = 3000
const silenceMs = 20_000

async function watchStream(target: Target) {
  let pieceCount = 0
  let firstPieceMs: number | undefined
  const onPiece = (_: string, ms: number): boolean => {
    firstPieceMs ??= ms
    pieceCount++
    return pieceCount > 1
  }
  const params = { notifications: { toolsListChanged: true } }
  const http = { timeoutMs: acknowledgementMs + silenceMs, onPiece }
  const late = new AbortController()
  const timer = setTimeout(() => firstPieceMs ?? late.abort(), acknowledgementMs)
  const signal = AbortSignal.any([target.signal, late.signal])
  const headers = { 'accept-encoding': acceptedCompressions }
  const probe = { method: 'subscriptions/listen', params, http, headers, id: longId }
  const reply = await sendRpc({ ...target, signal }, probe)
  clearTimeout(timer)
  const isStream = isEventStream(reply.headers)
  return { reply, firstPieceMs, isStream, laterPieceCount: Math.max(0, pieceCount - 1) }
}

/** A stream of changes begins at once, and is never silent for so long that a proxy closes it. */
export async function checkStreams(target: Target): Promise<{ readonly stream: Finding; readonly heartbeat: Finding }> {
  const both = (finding: Finding) => ({ stream: finding, heartbeat: finding })
  if (!isModern(target)) return both(skipped('The server does not serve the request.'))
  const { reply, firstPieceMs, isStream, laterPieceCount } = await watchStream(target)
  const lacking = checkScopes(target, 'subscriptions/listen', reply)
  if (lacking !== undefined) return { stream: lacking, heartbeat: skipped('The token lacks a scope.') }
  if (isUnavailable(reply)) return both(unavailable('The server', reply))
  if (!isStream && errorOf(reply) !== undefined)
    return both(skipped(`The server has no stream of changes: ${describeReply(reply)}.`))
  if (!isStream || firstPieceMs === undefined || firstPieceMs > acknowledgementMs) {
    const seconds = acknowledgementMs / 1000
    const found = `A stream of changes has no event in its first ${seconds} s.`
    return { stream: wrong(found, remedyOfDelay(reply)), heartbeat: skipped('The stream did not begin.') }
  }
  const stream = ok(`A stream of changes begins after ${Math.round(firstPieceMs)} ms.`)
  return { stream, heartbeat: laterPieceCount > 0 ? ok('The stream is not silent.') : explainSilence(reply) }
}

function remedyOfDelay({ headers }: Reply): string {
  return headers['content-encoding'] === undefined
    ? 'Switch the buffering of the proxy off for the endpoint (nginx: proxy_buffering off).'
    : 'Let the proxy compress JSON alone (Caddy: match header Content-Type application/json*, in encode).'
}

function explainSilence({ failure }: Reply): Finding {
  if (failure?.startsWith('there is no answer') === true)
    return wrong(
      `The stream is silent for ${silenceMs / 1000} s.`,
      'Send a comment every 15 s: proxies close a connection without data, often after 60 s.',
    )
  return wrong(
    'The stream ends without a reason.',
    'Raise the limit of idle connections in the proxies: a server sends a comment every 15 s.',
  )
}
