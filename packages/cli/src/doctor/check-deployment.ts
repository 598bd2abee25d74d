import { quoteText } from '@x/core'
import { errorCodes, isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { type Finding, ok, skipped, type Target, wrong } from './check.ts'
import { findObstacle } from './check-auth.ts'
import { isModern } from './check-revision.ts'
import { describeReply, errorOf, isPage, isUnavailable, type Reply, resultOf } from './http-probe.ts'
import { sendPlain, sendRpc, unavailable } from './rpc-probe.ts'

/** The server says if it is ready, where it has an address for that. */
export async function checkHealth(target: Target): Promise<Finding> {
  const reply = await sendPlain(target, { method: 'GET', url: new URL('/readyz', target.url) })
  if (reply.status === 200 && !isPage(reply)) return ok('/readyz answers with 200.')
  if (reply.status === 503)
    return wrong(
      `/readyz answers with 503: ${reply.text.slice(0, 200)}`,
      'Wait until its stores and issuers are reachable.',
    )
  if (isUnavailable(reply)) return unavailable('/readyz', reply)
  return skipped(`/readyz gives ${describeReply(reply)}, so a balancer cannot ask if the server is ready.`)
}

const connectionCount = 8

/** Every instance behind the address opens the state of every other one. */
export async function checkRounds(target: Target): Promise<Finding> {
  const { tool } = target
  if (!isModern(target)) return skipped('The server does not serve the request.')
  if (tool === undefined) return skipped('Name a tool that asks a question: --tool NAME --args JSON.')
  const params = { name: tool.name, arguments: tool.args }
  const first = await sendRpc(target, { method: 'tools/call', params })
  const requestState = resultOf(first)?.['requestState']
  if (typeof requestState !== 'string')
    return (
      (await findObstacle(target, 'tools/call', first)) ??
      skipped(`The tool ${tool.name} asks nothing with these arguments: ${describeEnd(first)}.`)
    )
  return checkReplies(await sendAgain(target, { ...params, requestState }))
}

/** The text of a tool that failed, such as of invalid arguments, says what to write after `--args`. */
function describeEnd(reply: Reply): string {
  const { isError, content } = resultOf(reply) ?? {}
  const [block]: readonly JsonValue[] = isError === true && Array.isArray(content) ? content : []
  return isJsonObject(block) ? `it fails with ${quoteText(String(block['text']))}` : describeReply(reply)
}

function checkReplies(replies: readonly Reply[]): Finding {
  const outage = replies.find(isUnavailable)
  const rejected = replies.filter((reply) => resultOf(reply) === undefined && !isUnavailable(reply))
  if (rejected.length === 0 && outage !== undefined) return unavailable('An instance', outage)
  if (rejected.length === 0)
    return ok(`The state of a call opens on ${connectionCount} of ${connectionCount} connections.`)
  const [example] = rejected
  const reason = example === undefined ? '' : describeReply(example)
  const found = `The state of a call is rejected on ${rejected.length} of ${connectionCount} connections: ${reason}.`
  return isStateRejection(example)
    ? wrong(found, 'Give every instance the same keys, and the same name of the service.')
    : wrong(found, 'Let each instance behind the address serve each call.')
}

/** Without an answer, the call asks again and does nothing else. Each has its own connection. */
function sendAgain(target: Target, params: JsonObject): Promise<readonly Reply[]> {
  const requests = Array.from({ length: connectionCount }, () => sendRpc(target, { method: 'tools/call', params }))
  return Promise.all(requests)
}

function isStateRejection(reply: Reply | undefined): boolean {
  return reply !== undefined && errorOf(reply)?.code === errorCodes.invalidParams
}
