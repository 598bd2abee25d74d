import { errorCodes, protocolVersion } from '@x/schema'
import { readMissingScope } from '../calls/given-token.ts'
import { type Finding, ok, skipped, type Target, wrong } from './check.ts'
import { describeReply, errorOf, isPage, isUnavailable, type Reply, resultOf } from './http-probe.ts'
import { discoverProbe, findOutage, remedyAfter, sendRpc, unavailable } from './rpc-probe.ts'

/** The endpoint answers, and with a message of the protocol. */
export function checkReach(target: Target): Finding {
  const { url, discovered, served } = target
  if (discovered.status === 0 && target.send !== undefined)
    return wrong(
      `The process gives no answer: ${describeReply(discovered)}.`,
      'Check the command, what it writes to its standard error, and that it serves MCP over stdio.',
    )
  if (discovered.status === 0)
    return wrong(
      `${url.origin} cannot be reached: ${describeReply(discovered)}.`,
      'Check the address, the port, DNS, the certificate, and that the server runs.',
    )
  if (served !== undefined) return ok(`The endpoint answers in ${Math.round(discovered.ms)} ms.`)
  if (isReached(target)) return ok(`The endpoint answers with ${describeReply(discovered)}.`)
  if (isUnavailable(discovered))
    return wrong(
      `A POST to ${url.pathname} gives ${describeReply(discovered)}, and no message of the protocol.`,
      'Check the path, that the server behind the address runs, and the logs of both it and a proxy in front.',
    )
  return wrong(
    `A POST to ${url.pathname} gives ${describeReply(discovered)}, and no message of the protocol.`,
    'Check the path: the endpoint of most servers is /mcp. A proxy in front must pass POST on: no redirect, and no page.',
  )
}

/** True for the address of an endpoint, even if it serves no request. */
export function isReached({ discovered, served }: Target): boolean {
  if (served !== undefined || discovered.status === 401) return true
  if (discovered.status === 403) return !isPage(discovered)
  const error = errorOf(discovered)
  // A server that does not know the method answers with 404, too.
  return error !== undefined && (discovered.status !== 404 || error.code === errorCodes.methodNotFound)
}

/** The server receives a Host that it serves. */
export function checkOwnHost({ url, discovered, served }: Target): Finding {
  if (served !== undefined) return ok(`The server accepts its own address, ${url.host}.`)
  if (!isHostRejection(discovered)) return skipped('No request is served.')
  return wrong(
    `The server rejects the Host of a request to its own address, ${url.host}.`,
    `Let the proxy pass the Host on (nginx: proxy_set_header Host $http_host), or allow ${url.hostname} in allowedHosts.`,
  )
}

/** The text names the header, whatever the implementation. */
function isHostRejection({ status, text }: Reply): boolean {
  return (status === 400 || status === 403 || status === 421) && /\bhost\b/i.test(text)
}

/** The headers that repeat the body reach the server, and are compared with it. */
export async function checkHeaders(target: Target): Promise<Finding> {
  const { discovered } = target
  const error = errorOf(discovered)
  if (error?.code === errorCodes.headerMismatch)
    return wrong(
      `The server does not receive the headers as they were sent: ${error.message.slice(0, 200)}.`,
      'Let the proxy pass on Mcp-Method, Mcp-Name, MCP-Protocol-Version and Mcp-Param-* unchanged.',
    )
  if (!isModern(target)) return skipped('The server does not serve the request.')
  const cases = [
    ['a wrong Mcp-Method', 'ping'],
    ['no Mcp-Method', undefined],
  ] as const
  for (const [what, value] of cases) {
    const reply = await sendRpc(target, { ...discoverProbe, headers: { 'mcp-method': value } })
    const outage = await findOutage(target, reply)
    if (outage !== undefined) return outage
    if (resultOf(reply) !== undefined)
      return wrong(
        `A request with ${what} is served.`,
        'Reject a request whose headers do not repeat its body: a proxy that trusts them would be bypassed.',
      )
  }
  return ok('A wrong and a missing Mcp-Method are rejected.')
}

export function isModern({ discovered }: Target): boolean {
  return resultOf(discovered) !== undefined
}

/** The server speaks revision 2026-07-28. */
export function checkDiscover(target: Target): Finding {
  const { discovered, served } = target
  const versions = resultOf(discovered)?.['supportedVersions']
  if (Array.isArray(versions) && versions.includes(protocolVersion))
    return ok(`The server speaks ${versions.join(', ')}.`)
  const obstacle = findTokenProblem(target) ?? findEarlyRejection(discovered)
  if (obstacle !== undefined) return skipped(obstacle)
  const remedy = `Serve ${protocolVersion}, beside the older revisions, so that clients need no session.`
  if (served !== undefined) return wrong(`The server speaks older revisions only, and not ${protocolVersion}.`, remedy)
  const found = `server/discover gives ${describeReply(discovered)}.`
  if (discovered.status === 500) return wrong(found, 'Read the log of the server: the request fails there.')
  if (discovered.status === 403)
    return wrong(found, 'Read the log of the server: a proxy may have added a header to the request, such as Origin.')
  return isUnavailable(discovered) ? unavailable('The server', discovered) : wrong(found, remedy)
}

function findEarlyRejection(discovered: Reply): string | undefined {
  const isRejected = isHostRejection(discovered) || errorOf(discovered)?.code === errorCodes.headerMismatch
  return isRejected ? 'The request is rejected before it is read; see the finding above.' : undefined
}

function findTokenProblem({ discovered: { status, headers }, token }: Target): string | undefined {
  if (readMissingScope(status, headers['www-authenticate']) !== undefined) return 'The token lacks a scope.'
  if (status !== 401) return undefined
  return token === undefined ? 'The server requires a token: give one with --token.' : 'The server rejects the token.'
}

/** A client of an unknown revision can choose another one. */
export async function checkProbeShape(target: Target): Promise<Finding> {
  if (!isModern(target)) return skipped('The server does not serve the request.')
  const version = '2099-01-01'
  const reply = await sendRpc(target, { ...discoverProbe, version })
  const error = errorOf(reply)
  if (
    reply.status === 400 &&
    error?.code === errorCodes.unsupportedProtocolVersion &&
    Array.isArray(error.data['supported'])
  )
    return ok('An unknown revision is rejected with 400 and the supported ones.')
  const outage = await findOutage(target, reply)
  if (outage !== undefined) return outage
  return wrong(
    `A request of the revision ${version} gives ${describeReply(reply)}.`,
    remedyAfter(
      reply,
      `Answer 400 with the error ${errorCodes.unsupportedProtocolVersion} and data.supported, from which a client chooses.`,
    ),
  )
}
