import { type JsonObject, parseJsonObject, quoteText } from '@x/core'
import { readChallengeParam, readMissingScope } from '../calls/given-token.ts'
import { type Finding, ok, skipped, type Target, wrong } from './check.ts'
import { describeReply, isUnavailable, type Reply } from './http-probe.ts'
import { discoverProbe, findOutage, sendPlain, sendRpc, unavailable } from './rpc-probe.ts'

/** A client without a token finds the issuer, and the issuer's metadata have the same names. */
export async function checkAuth(target: Target): Promise<Finding> {
  const { discovered } = target
  const lacking = checkScopes(target, discoverProbe.method, discovered)
  if (lacking !== undefined) return lacking
  const anonymous = { ...target, token: undefined }
  const reply = target.token === undefined ? discovered : await sendRpc(anonymous, discoverProbe)
  if (isUnavailable(reply)) return unavailable('The server', reply)
  if (reply.status !== 401) return skipped('The server requires no token.')
  const scheme = findForeignScheme(reply)
  if (scheme !== undefined)
    return wrong(
      `A 401 asks for ${quoteText(scheme)}, and clients of the protocol send Bearer or DPoP.`,
      'Let the proxy in front pass the endpoint on without a login of its own.',
    )
  const isTokenRejected = target.token !== undefined && discovered.status === 401
  const metadataUrl = readMetadataUrl(reply)
  if (metadataUrl === undefined) return withoutMetadata(target.token !== undefined && !isTokenRejected)
  return checkMetadataAt(anonymous, metadataUrl, isTokenRejected)
}

function withoutMetadata(isTokenAccepted: boolean): Finding {
  if (isTokenAccepted)
    return skipped('A 401 names no authorization server, so no host can log in: its users enter a token.')
  return wrong(
    'A 401 has no resource_metadata in WWW-Authenticate.',
    'Add the address of the protected resource metadata (RFC 9728): a client finds the issuer there.',
  )
}

async function checkMetadataAt(target: Target, metadataUrl: URL, isTokenRejected: boolean): Promise<Finding> {
  const { document, reason, outage } = await fetchDocument(target, metadataUrl)
  if (outage !== undefined) return unavailable(metadataUrl.href, outage)
  if (document === undefined)
    return wrong(
      `The metadata at ${metadataUrl.href} are not readable: ${reason}.`,
      'Serve them without a token: a proxy must pass this address on.',
    )
  const finding = await checkMetadata(target, document)
  if (finding.status !== 'ok' || !isTokenRejected) return finding
  return wrong(
    'The server rejects the token.',
    `Get one for the resource ${JSON.stringify(document['resource'])}: the log of the server says what is wrong with this one.`,
  )
}

/** Undefined if the reply does not say that the token lacks a scope. A server may want scopes for some methods only. */
export function checkScopes(
  { url }: Pick<Target, 'url'>,
  method: string,
  { status, headers }: Reply,
): Finding | undefined {
  const scope = readMissingScope(status, headers['www-authenticate'])
  if (scope === undefined) return undefined
  const command = method === 'tools/call' ? `mcpx call ${url.href} TOOL` : `mcpx list ${url.href}`
  return wrong(
    `The token lacks a scope for ${method}: the server wants ${scope}.`,
    `Grant it with "${command}" at a terminal, which logs you in, or give a token with it by --token.`,
  )
}

/** Why the server has not served a request: the token lacks a scope, or the server cannot answer at present. */
export async function findObstacle(target: Target, method: string, reply: Reply): Promise<Finding | undefined> {
  return checkScopes(target, method, reply) ?? (await findOutage(target, reply))
}

/** The scheme of a challenge that asks for no token, such as Basic. */
function findForeignScheme({ headers: { 'www-authenticate': challenge = '' } }: Reply): string | undefined {
  const [scheme = ''] = challenge.split(' ', 1)
  return scheme === '' || /\b(?:bearer|dpop)\b/i.test(challenge) ? undefined : scheme
}

function readMetadataUrl({ headers }: Reply): URL | undefined {
  const address = readChallengeParam(headers['www-authenticate'], 'resource_metadata') ?? ''
  return URL.canParse(address) ? new URL(address) : undefined
}

/** Why there is no document stands in `reason`, and in `outage` the reply of an address that has none at present. */
async function fetchDocument(
  target: Target,
  url: URL,
): Promise<{ readonly document?: JsonObject | undefined; readonly reason: string; readonly outage?: Reply }> {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { reason: `${url.protocol} is not the scheme of a document` }
  const reply = await sendPlain(target, { method: 'GET', url })
  const document = reply.status === 200 ? parseJsonObject(reply.text) : undefined
  return { document, reason: describeReply(reply), ...(isUnavailable(reply) && { outage: reply }) }
}

async function checkMetadata(
  target: Target,
  { resource, authorization_servers: issuers }: JsonObject,
): Promise<Finding> {
  if (typeof resource !== 'string' || !isSameResource(resource, target.url))
    return wrong(
      `The metadata are of the resource ${JSON.stringify(resource)}, and the address is ${target.url.href}.`,
      'Write the public address of the server as its resource: tokens for another one are rejected.',
    )
  if (!Array.isArray(issuers) || issuers.length === 0)
    return wrong('The metadata name no authorization server.', 'Add authorization_servers.')
  for (const issuer of issuers) {
    const finding = await checkIssuer(target, issuer)
    if (finding !== undefined) return finding
  }
  return ok(`A client finds ${issuers.length === 1 ? 'the issuer' : 'the issuers'} ${issuers.join(', ')}.`)
}

/** A client may use the resource for an address of the same origin, at its path or below (RFC 9728). */
function isSameResource(resource: string, url: URL): boolean {
  if (!URL.canParse(resource)) return false
  const { origin, pathname } = new URL(resource)
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  return origin === url.origin && `${url.pathname}/`.startsWith(folder)
}

async function checkIssuer(target: Target, issuer: unknown): Promise<Finding | undefined> {
  if (typeof issuer !== 'string' || !URL.canParse(issuer))
    return wrong(`The issuer ${JSON.stringify(issuer)} is not a URL.`, 'Write the issuer as its own metadata have it.')
  const reasons: string[] = []
  for (const url of metadataAddresses(new URL(issuer))) {
    const { document, reason, outage } = await fetchDocument(target, url)
    if (outage !== undefined) return unavailable(`The issuer ${issuer}`, outage)
    if (document === undefined) {
      reasons.push(`${url.href}: ${reason}`)
      continue
    }
    if (document['issuer'] === issuer) return undefined
    return wrong(
      `The server names the issuer ${issuer}, and the issuer calls itself ${JSON.stringify(document['issuer'])}.`,
      "Use the issuer's own spelling, to the last slash: clients and servers compare the texts.",
    )
  }
  return wrong(
    `The issuer ${issuer} has no metadata (${reasons.join('; ')}).`,
    'Check the spelling of the issuer, and that it serves RFC 8414 or OpenID Connect discovery.',
  )
}

/** In the order of the specification (basic/authorization, discovery). */
function metadataAddresses(issuer: URL): readonly URL[] {
  const path = issuer.pathname.replace(/\/$/, '')
  const paths = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`]
  if (path !== '') paths.push(`${path}/.well-known/openid-configuration`)
  return paths.map((each) => new URL(each, issuer.origin))
}
