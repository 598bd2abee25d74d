import * as oauth from 'oauth4webapi'
import { AuthError, quoteText } from './auth-error.ts'
import { type ClientIdentity, clientFor } from './client-identity.ts'
import { authenticated, pushRequest } from './server-requests.ts'
import { withLock } from './store.ts'
import type { AuthRecords, PendingLogin, StoredToken } from './stored.ts'
import { exchangeCode, tokenOf } from './token-requests.ts'
import type { TokenNeed, ObtainToken } from './token-source.ts'

/** A way to send a person to the authorization server and to get the answer. */
export interface Redirect {
  /** `web` for pages of a host that is not this machine (basic/authorization/client-registration). */
  readonly applicationType: 'native' | 'web'
  /** Opens the place that the answer comes to. It closes with `close` at the latest. */
  open(signal: AbortSignal): Promise<OpenRedirect>
}

/** A place that waits for the answer of one login. */
export interface OpenRedirect {
  /** The redirect URI. */
  readonly uri: string
  /** The URIs to register, where they differ from `uri`. */
  readonly registered?: readonly string[] | undefined
  /** Sends the person to `url`; resolves with the address that the answer with this `state` came back to. */
  visit(url: URL, state: string): Promise<URL>
  close(): Promise<void>
}

/** Dependencies shared by the logins of a person. */
export interface CodeFlow {
  readonly identity: ClientIdentity
  readonly redirect: Redirect
  readonly records: AuthRecords
  readonly now: () => number
}

const loginTimeoutMs = 600_000

/** Obtains tokens by sending a person to the authorization server: the code flow with PKCE (basic/authorization). */
export function codeFlow(login: CodeFlow): ObtainToken {
  return async (need) => {
    checkPkce(need.link.server)
    const open = await login.redirect.open(need.link.signal)
    try {
      const { state, url } = await beginLogin(login, need, open)
      const answer = await open.visit(url, state)
      return await finishLogin(login, need.link, await takePendingLogin(login, answer, state))
    } finally {
      await open.close()
    }
  }
}

// basic/authorization/security-considerations: whoever does not say that it checks S256 is not used.
function checkPkce({ issuer, code_challenge_methods_supported: methods }: oauth.AuthorizationServer): void {
  if (methods?.includes('S256')) return
  const message = `The authorization server ${quoteText(issuer)} does not list S256 in code_challenge_methods_supported`
  throw new AuthError('pkce_unsupported', message, { issuer })
}

async function beginLogin(login: CodeFlow, need: TokenNeed, open: OpenRedirect): Promise<{ state: string; url: URL }> {
  const { records, now } = login
  const { link, resource, scopes, endpoint } = need
  const { issuer, authorization_endpoint: authorize } = link.server
  if (authorize === undefined) {
    throw new AuthError('metadata_invalid', `${quoteText(issuer)} has no authorization_endpoint`, { issuer })
  }
  const { uri, registered = [uri] } = open
  const target = { uri, registered, applicationType: login.redirect.applicationType }
  const client = await clientFor(link, login.identity, { records, target, now: now() })
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const params = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: uri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  if (link.sendsResource) params.set('resource', resource)
  if (scopes.length > 0) params.set('scope', scopes.join(' '))
  // RFC 9449, section 10: a code that is stolen is of no use without the key.
  if (link.dpop !== undefined) params.set('dpop_jkt', await link.dpop.thumbprint())
  // OpenID Connect Core, section 11: offline access is given when the person was asked.
  if (scopes.includes('offline_access')) params.set('prompt', 'consent')
  const shared = { issuer, resource, verifier, client, redirectUri: uri, requested: scopes }
  const record: PendingLogin = { ...shared, endpoint: endpoint.href, expiresAt: now() + loginTimeoutMs }
  await records.pendingLogins.write(records.pendingLogins.key(state), record)
  const isPushed = link.server.require_pushed_authorization_requests === true
  const visible = isPushed ? await pushRequest(link, authenticated(client, link.server), params) : params
  const url = new URL(authorize)
  for (const [name, value] of visible) url.searchParams.set(name, value)
  return { state, url }
}

/** A flow with its answer, of which the state alone has been checked. */
export interface AnsweredLogin extends PendingLogin {
  readonly state: string
  readonly answer: URL
}

/**
 * Takes the record of the flow that an answer belongs to, which is then used up. Throws {@link AuthError}
 * `response_invalid` for an answer that nobody here has asked for.
 */
export async function takePendingLogin(
  { records, now }: Pick<CodeFlow, 'records' | 'now'>,
  answer: URL,
  expected?: string,
): Promise<AnsweredLogin> {
  const states = answer.searchParams.getAll('state')
  const [state = ''] = states
  const isOurs = states.length === 1 && state !== '' && (expected === undefined || state === expected)
  const key = records.pendingLogins.key(state)
  const login = isOurs
    ? await withLock(records.store, key, async () => {
        const found = await records.pendingLogins.read(key)
        await records.pendingLogins.remove(key)
        return found
      })
    : undefined
  if (login !== undefined && login.expiresAt > now()) return { ...login, state, answer }
  throw new AuthError('response_invalid', 'The answer belongs to no login under way here: begin the login anew')
}

/** Checks an answer against its flow and exchanges the code. */
export async function finishLogin(
  { now }: Pick<CodeFlow, 'now'>,
  link: TokenNeed['link'],
  login: AnsweredLogin,
): Promise<StoredToken> {
  const { server } = link
  const { client: stored, redirectUri, verifier, requested, resource } = login
  const client = authenticated(stored, server)
  const params = checkedResponse(server, client.client, login)
  const sent = link.sendsResource ? resource : undefined
  const grant = await exchangeCode(link, { ...client, params, redirectUri, verifier, resource: sent })
  return { ...tokenOf(grant, now()), requested, clientId: stored.id }
}

function checkedResponse(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  { answer, state }: AnsweredLogin,
): URLSearchParams {
  const { issuer } = server
  try {
    // The library takes an empty `iss` for none.
    if (answer.searchParams.has('iss') && answer.searchParams.get('iss') !== issuer) throw new Error('another issuer')
    return oauth.validateAuthResponse(server, client, answer, state)
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error
      const why = description === undefined ? '' : `: ${quoteText(description)}`
      const message = `The authorization server ${quoteText(issuer)} answered ${quoteText(code)}${why}`
      throw new AuthError('authorization_denied', message, { issuer, error: code })
    }
    // RFC 9207, section 2.4: of an answer that may be another server's, nothing is shown.
    const message = `The answer of the login is not one of ${quoteText(issuer)}: it was not used`
    throw new AuthError('response_invalid', message, { issuer })
  }
}
