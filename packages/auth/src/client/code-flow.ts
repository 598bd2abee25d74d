import * as oauth from 'oauth4webapi'
import { AuthError, quoteText } from './auth-error.ts'
import { type ClientIdentity, findOrRegisterClient } from './client-identity.ts'
import { toAuthenticatedClient, pushAuthorizationRequest } from './server-requests.ts'
import { withLock } from './store.ts'
import type { AuthRecords, PendingLogin, StoredToken } from './stored.ts'
import { exchangeCode, toStoredToken } from './token-requests.ts'
import type { TokenRequirements, RequestGrant } from './token-source.ts'

/** Sends a person to the authorization server, and receives the response. */
export interface Redirect {
  /**
   * `web` if the redirect URI is a page on another host than this machine, or else `native`
   * (basic/authorization/client-registration).
   */
  readonly applicationType: 'native' | 'web'
  /** Starts to listen for the response. The caller closes the returned listener. */
  open(signal: AbortSignal, options?: RedirectOptions): Promise<RedirectListener>
}

/** Information about the client that logs in. */
export interface RedirectOptions {
  /**
   * The redirect URIs that the client has registered. Every authorization server accepts at least one of these URIs.
   */
  readonly registeredUris: readonly string[]
}

/** A listener that receives the response of one login. */
export interface RedirectListener {
  /** The redirect URI of this login. */
  readonly uri: string
  /** The redirect URIs to register, if they differ from `uri`. */
  readonly registeredUris?: readonly string[] | undefined
  /** Sends the person to `url`. Resolves with the address of the redirect whose parameter `state` has this value. */
  visit(url: URL, state: string): Promise<URL>
  close(): Promise<void>
}

/** Dependencies that all logins of a person share. */
export interface CodeFlowOptions {
  readonly identity: ClientIdentity
  readonly redirect: Redirect
  readonly records: AuthRecords
  readonly now: () => number
}

const loginTimeoutMs = 600_000

/**
 * Creates a function that obtains tokens through a login of a person, by the code flow with PKCE (basic/authorization).
 */
export function createCodeFlow(options: CodeFlowOptions): RequestGrant {
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

// basic/authorization/security-considerations: a login at a server that does not list S256 is refused.
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
  // RFC 9449, section 10: the code is bound to the key, so that a thief of the code cannot exchange it.
  if (serverContext.dpop !== undefined) params.set('dpop_jkt', await serverContext.dpop.getThumbprint())
  // OpenID Connect Core, section 11: `offline_access` needs the consent of the person.
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

/** A login and its response. Only the state of the response has been checked. */
export interface AnsweredLogin extends PendingLogin {
  readonly state: string
  readonly responseUrl: URL
}

/**
 * Removes and returns the record of the login to which a response belongs, so that each login accepts one response.
 * Throws {@link AuthError} `response_invalid` if there is no such record.
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

/** Checks the response to a login, and exchanges its code for a token. */
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
    // The library treats an empty `iss` as an absent one, so `iss` is compared here.
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
    // RFC 9207, section 2.4: the response may come from another server, so the message contains no part of it.
    const message = `The response of the login is not one of ${quoteText(issuer)}: it was not used`
    throw new AuthError('response_invalid', message, { issuer })
  }
}
