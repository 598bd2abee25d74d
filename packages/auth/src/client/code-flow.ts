import * as oauth from 'oauth4webapi'
import { AuthError, quoteText } from './auth-error.ts'
import { type ClientIdentity, findOrRegisterClient } from './client-identity.ts'
import { toAuthenticatedClient, pushAuthorizationRequest } from './server-requests.ts'
import { withLock } from './store.ts'
import type { AuthRecords, PendingLogin, StoredToken } from './stored.ts'
import { exchangeCode, toStoredToken } from './token-requests.ts'
import type { TokenRequirements, ObtainToken } from './token-source.ts'

/** Sends a person to the authorization server, and receives the response. */
export interface Redirect {
  /** `web` for pages of a host that is not this machine (basic/authorization/client-registration). */
  readonly applicationType: 'native' | 'web'
  /** Opens a listener for the response. It closes with `close` at the latest. */
  open(signal: AbortSignal, options?: RedirectOptions): Promise<RedirectListener>
}

/** Facts about the client of a login. */
export interface RedirectOptions {
  /** The redirect URIs that the client is registered with. One of them works at every authorization server. */
  readonly registeredUris: readonly string[]
}

/** A listener for the response of one login. */
export interface RedirectListener {
  /** The redirect URI. */
  readonly uri: string
  /** The URIs to register, where they differ from `uri`. */
  readonly registeredUris?: readonly string[] | undefined
  /** Sends the person to `url`. Resolves with the redirect's address that has this `state`. */
  visit(url: URL, state: string): Promise<URL>
  close(): Promise<void>
}

/** Dependencies shared by the logins of a person. */
export interface CodeFlowOptions {
  readonly identity: ClientIdentity
  readonly redirect: Redirect
  readonly records: AuthRecords
  readonly now: () => number
}

const loginTimeoutMs = 600_000

/** Obtains tokens by a login of a person: the code flow with PKCE (basic/authorization). */
export function createCodeFlow(options: CodeFlowOptions): ObtainToken {
  return async (requirements) => {
    const { server, signal } = requirements.serverContext
    checkPkce(server)
    const storedClient = await options.records.clients.read(options.records.clients.toKey(server.issuer))
    const registeredUris = storedClient?.redirectUris ?? []
    const redirectListener = await options.redirect.open(signal, { registeredUris })
    try {
      const { state, url } = await beginLogin(options, requirements, redirectListener)
      const answerUrl = await redirectListener.visit(url, state)
      return await finishLogin(options, requirements.serverContext, await takePendingLogin(options, answerUrl, state))
    } finally {
      await redirectListener.close()
    }
  }
}

// basic/authorization/security-considerations: a server that does not list S256 is not used.
function checkPkce({ issuer, code_challenge_methods_supported: methods }: oauth.AuthorizationServer): void {
  if (methods?.includes('S256')) return
  const message = `The authorization server ${quoteText(issuer)} does not list S256 in code_challenge_methods_supported`
  throw new AuthError('pkce_unsupported', message, { issuer })
}

async function beginLogin(
  options: CodeFlowOptions,
  requirements: TokenRequirements,
  redirectListener: RedirectListener,
): Promise<{ state: string; url: URL }> {
  const { records, now } = options
  const { serverContext, resource, scopes, endpoint } = requirements
  const { issuer, authorization_endpoint: authorizationEndpoint } = serverContext.server
  if (authorizationEndpoint === undefined) {
    throw new AuthError('metadata_invalid', `${quoteText(issuer)} has no authorization_endpoint`, { issuer })
  }
  const { uri, registeredUris = [uri] } = redirectListener
  const clientRedirectTarget = { uri, registeredUris, applicationType: options.redirect.applicationType }
  const client = await findOrRegisterClient(serverContext, options.identity, {
    records,
    target: clientRedirectTarget,
    now: now(),
  })
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const params = new URLSearchParams({
    response_type: 'code',
    client_id: client.id,
    redirect_uri: uri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  if (serverContext.sendsResource) params.set('resource', resource)
  if (scopes.length > 0) params.set('scope', scopes.join(' '))
  // RFC 9449, section 10: a code that is stolen is of no use without the key.
  if (serverContext.dpop !== undefined) params.set('dpop_jkt', await serverContext.dpop.getThumbprint())
  // OpenID Connect Core, section 11: offline access needs the consent of the person.
  if (scopes.includes('offline_access')) params.set('prompt', 'consent')
  const loginFields = { issuer, resource, verifier, client, redirectUri: uri, requested: scopes }
  const pendingLogin: PendingLogin = { ...loginFields, endpoint: endpoint.href, expiresAt: now() + loginTimeoutMs }
  await records.pendingLogins.write(records.pendingLogins.toKey(state), pendingLogin)
  const requiresPushedRequest = serverContext.server.require_pushed_authorization_requests === true
  const authorizationParams = requiresPushedRequest
    ? await pushAuthorizationRequest(serverContext, toAuthenticatedClient(client, serverContext.server), params)
    : params
  const url = new URL(authorizationEndpoint)
  for (const [name, value] of authorizationParams) url.searchParams.set(name, value)
  return { state, url }
}

/** A login with its response, of which the state alone has been checked. */
export interface AnsweredLogin extends PendingLogin {
  readonly state: string
  readonly responseUrl: URL
}

/**
 * Takes the record of the login that a response belongs to, which can be taken once. Throws {@link AuthError}
 * `response_invalid` for a response without a login.
 */
export async function takePendingLogin(
  { records, now }: Pick<CodeFlowOptions, 'records' | 'now'>,
  answerUrl: URL,
  expectedState?: string,
): Promise<AnsweredLogin> {
  const stateValues = answerUrl.searchParams.getAll('state')
  const [state = ''] = stateValues
  const isValidState =
    stateValues.length === 1 && state !== '' && (expectedState === undefined || state === expectedState)
  const key = records.pendingLogins.toKey(state)
  const login = isValidState
    ? await withLock(records.store, key, async () => {
        const storedLogin = await records.pendingLogins.read(key)
        await records.pendingLogins.remove(key)
        return storedLogin
      })
    : undefined
  if (login !== undefined && login.expiresAt > now()) return { ...login, state, responseUrl: answerUrl }
  throw new AuthError('response_invalid', 'The response belongs to no pending login: begin the login anew')
}

/** Checks a response against its login and exchanges the code. */
export async function finishLogin(
  { now }: Pick<CodeFlowOptions, 'now'>,
  serverContext: TokenRequirements['serverContext'],
  login: AnsweredLogin,
): Promise<StoredToken> {
  const { server } = serverContext
  const { client: storedClient, redirectUri, verifier, requested, resource } = login
  const client = toAuthenticatedClient(storedClient, server)
  const params = validateAuthResponse(server, client.client, login)
  const sentResource = serverContext.sendsResource ? resource : undefined
  const grant = await exchangeCode(serverContext, { ...client, params, redirectUri, verifier, resource: sentResource })
  return { ...toStoredToken(grant, now()), requested, clientId: storedClient.id }
}

function validateAuthResponse(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  { responseUrl, state }: AnsweredLogin,
): URLSearchParams {
  const { issuer } = server
  try {
    // The library treats an empty `iss` as none.
    if (responseUrl.searchParams.has('iss') && responseUrl.searchParams.get('iss') !== issuer)
      throw new Error('another issuer')
    return oauth.validateAuthResponse(server, client, responseUrl, state)
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error
      const details = description === undefined ? '' : `: ${quoteText(description)}`
      const message = `The authorization server ${quoteText(issuer)} answered ${quoteText(code)}${details}`
      throw new AuthError('authorization_denied', message, { issuer, error: code })
    }
    // RFC 9207, section 2.4: no part of a response that may be another server's is shown.
    const message = `The response of the login is not one of ${quoteText(issuer)}: it was not used`
    throw new AuthError('response_invalid', message, { issuer })
  }
}
