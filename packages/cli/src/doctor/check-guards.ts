import { type Finding, ok, type RpcProbe, skipped, type Target, wrong } from './check.ts'
import { describeReply, isEventStream, isUnavailable, type Reply, resultOf } from './http-probe.ts'
import { findOutage, probeBodyOf, sendPlain, sendRpc, unavailable } from './rpc-probe.ts'

const foreignOrigin = 'https://mcpx-doctor.invalid'

/** The served request with one change must be rejected, and not with an internal error. */
async function checkGuard(
  target: Target,
  {
    what,
    change,
    remedy,
    mayBeElsewhere,
  }: {
    readonly what: string
    readonly change: Omit<RpcProbe, 'method'>
    readonly remedy: string
    /** True if another site behind the same proxy may answer. */
    readonly mayBeElsewhere?: boolean
  },
): Promise<Finding> {
  const { served } = target
  if (served === undefined) return skipped('No request is served.')
  const headers = { ...served.headers, ...change.headers }
  const reply = await sendRpc(target, { ...served, ...change, headers })
  if (resultOf(reply) !== undefined) return wrong(`${what} is served.`, remedy)
  if (isUnavailable(reply)) {
    const found = `${what} gives ${describeReply(reply)}.`
    const faultRemedy = 'Reject it with 4xx: an error of the server alarms its operator.'
    return (await findOutage(target, reply)) ?? wrong(found, faultRemedy)
  }
  if (isRejection(reply) || (mayBeElsewhere && isOfOtherSite(reply))) return ok(`${what} ${describeRejection(reply)}.`)
  return wrong(`${what} gives ${describeReply(reply)}.`, remedy)
}

function isRejection({ status, message }: Reply): boolean {
  return status >= 400 || status === 0 || message?.['error'] !== undefined
}

function describeRejection(reply: Reply): string {
  if (reply.status === 0) return 'is rejected: the connection is closed'
  return isOfOtherSite(reply) ? `does not reach the server: ${describeReply(reply)}` : `is rejected: ${reply.status}`
}

function isOfOtherSite({ status, headers, message }: Reply): boolean {
  return status < 400 && message === undefined && !isEventStream(headers)
}

/** A page that rebinds its DNS name to the server cannot call it. */
export function checkHost(target: Target): Promise<Finding> {
  return checkGuard(target, {
    what: 'A request for a foreign Host',
    change: { headers: { host: 'mcpx-doctor.invalid' } },
    remedy:
      'Serve your own host names only, and let a proxy pass the Host on: otherwise DNS rebinding reaches the server.',
    mayBeElsewhere: true,
  })
}

/** A page of another site cannot call the server. */
export function checkOrigin(target: Target): Promise<Finding> {
  return checkGuard(target, {
    what: 'A request with a foreign Origin',
    change: { headers: { origin: foreignOrigin } },
    remedy: 'Reject an Origin that is not yours with 403: otherwise any web page calls the server.',
  })
}

/** A form of a page, which needs no permission to send, cannot call the server. */
export function checkMedia(target: Target): Promise<Finding> {
  return checkGuard(target, {
    what: 'A body of the type text/plain',
    change: { headers: { 'content-type': 'text/plain' } },
    remedy: 'Accept application/json only: a page sends text/plain without asking the server.',
  })
}

const megabytes = 20

/** A body that is too large does not fill the memory. */
export function checkSize(target: Target): Promise<Finding> {
  const filler = 'x'.repeat(megabytes * 1_000_000)
  return checkGuard(target, {
    what: `A body of ${megabytes} MB`,
    change: { body: bodyWith(target, JSON.stringify(filler)), http: { timeoutMs: 30_000 } },
    remedy: 'Limit the size of a body, in the server and in the proxy.',
  })
}

const levels = 50_000

/** A body that is nested too deeply is no error of the server. A server that skips the nested value may serve it. */
export async function checkDepth(target: Target): Promise<Finding> {
  if (target.served === undefined) return skipped('No request is served.')
  const nested = '['.repeat(levels) + ']'.repeat(levels)
  const reply = await sendRpc(target, { ...target.served, body: bodyWith(target, nested) })
  const what = `A body of ${levels} levels`
  const outage = await findOutage(target, reply)
  if (outage !== undefined) return outage
  if (reply.status > 0 && reply.status < 500) return ok(`${what} gives ${reply.status}.`)
  return wrong(
    `${what} gives ${describeReply(reply)}.`,
    'Limit the depth of a message before it is parsed or walked: it exhausts the stack.',
  )
}

/** `json` becomes one more member of the params. It may be deeper than an object could be. */
function bodyWith({ served }: Target, json: string): string {
  return served === undefined ? '' : probeBodyOf(served).replace('"params":{', `"params":{"mcpx-doctor":${json},`)
}

/** A page of an allowed site has to send them. */
const pageHeaders = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** A page of the server's own site may send the headers of the protocol, if it may call at all. */
export async function checkCors(target: Target): Promise<Finding> {
  if (target.served === undefined) return skipped('No request is served.')
  const reply = await sendPlain(target, {
    method: 'OPTIONS',
    url: target.url,
    headers: {
      origin: target.url.origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': pageHeaders.join(','),
    },
  })
  if (isUnavailable(reply)) return unavailable('The server', reply)
  if (reply.headers['access-control-allow-origin'] === undefined)
    return skipped('No page of a browser may call the server.')
  const missing = missingHeaders(reply)
  if (missing.length === 0) return ok('A page of the own site may send the headers of the protocol.')
  return wrong(
    `A page of the own site may not send ${missing.join(', ')}.`,
    `Add ${missing.join(', ')} to Access-Control-Allow-Headers.`,
  )
}

function missingHeaders({ headers }: Reply): readonly string[] {
  const allowed = (headers['access-control-allow-headers'] ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return allowed.includes('*') ? [] : pageHeaders.filter((name) => !allowed.includes(name))
}
