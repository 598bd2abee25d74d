import { checkOptions } from '@x/core'
import type { AuthorizationServer } from 'oauth4webapi'
import { AuthError, isAuthError } from './auth-error.ts'
import { type FetchFunction, platformFetch } from '../bounded-fetch.ts'
import {
  type MachineAuth,
  createMachineAuth,
  machineOptionNames,
  type MachineOptions,
  requestWithAssertion,
} from './machine.ts'
import { createClientAuthenticator, requireClientAuthenticator, type MachineClient } from './machine-client.ts'
import { parseSafeUrl } from './safe-url.ts'
import { discoverServerMetadata } from './server-metadata.ts'
import { exchangeToken } from './token-requests.ts'
import type { TokenRequirements } from './token-source.ts'

/** The identity provider of an enterprise, and the program as a client of it. */
export interface IdentityProvider {
  /** The issuer of the identity provider, letter for letter. */
  readonly issuer: string
  /** The endpoint where tokens are exchanged. Default: as the metadata of the issuer says. */
  readonly tokenEndpoint?: string | undefined
  /** With a key or a secret, unless it is a public client there. */
  readonly client: MachineClient
}

/** The assertion that the identity provider issued for a person at their login. */
export interface IdentityAssertion {
  readonly token: string
  readonly type: 'id_token' | 'saml2'
}

/** Context of a request for an identity. */
export interface IdentityRequest {
  /** The identity token that the identity provider refused: it has ended, and a new one is needed. */
  readonly rejectedToken: string | undefined
  /** Aborts when no call waits for the identity any more. */
  readonly signal: AbortSignal
}

/** A person whom the identity provider of an enterprise knows. */
export interface EnterpriseOptions extends MachineOptions {
  /** The program at the authorization server of the MCP server, with a key or a secret. */
  readonly client: MachineClient
  readonly idp: IdentityProvider
  /** Returns the identity of the person: an ID token, or what {@link IdentityAssertion} says. */
  identity(request: IdentityRequest): string | IdentityAssertion | Promise<string | IdentityAssertion>
}

const enterpriseOptionNames = {
  ...machineOptionNames,
  client: true,
  idp: true,
  identity: true,
} as const satisfies Record<keyof EnterpriseOptions, true>

/** The types of tokens (RFC 8693, section 3, and the draft of the identity assertion grant). */
const tokenTypeUrnOf = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`

/**
 * Authorizes requests with the login of a person at the identity provider of their enterprise, which decides on the MCP
 * servers that they may use (extensions/auth/enterprise-managed-authorization). The identity is exchanged there for a
 * grant (ID-JAG) to the authorization server of the MCP server. No person is asked to consent.
 *
 * Throws a `TypeError` for a client without a key or a secret, and for a token endpoint that is not https. Calls reject
 * with {@link AuthError}.
 *
 * @example
 * const auth = enterprise({
 *   issuer: 'https://auth.example.com',
 *   client: { id: 'items', secret },
 *   idp: { issuer: 'https://idp.example.com', client: { id: 'items-at-idp', key: { privateKey } } },
 *   identity: () => session.idToken,
 * })
 */
export function enterprise(options: EnterpriseOptions): MachineAuth {
  checkOptions(options, enterpriseOptionNames, 'enterprise')
  const authenticate = requireClientAuthenticator(options.client)
  const exchangeIdentity = createIdentityExchange(options)
  return createMachineAuth(options, {
    extension: 'io.modelcontextprotocol/enterprise-managed-authorization',
    clientId: options.client.id,
    request: async (requirements) =>
      requestWithAssertion(requirements, authenticate, await exchangeIdentity(requirements)),
  })
}

/** Exchanges identities for grants. An identity that has ended is asked for once more. */
function createIdentityExchange({
  idp,
  identity,
  fetch = platformFetch,
}: EnterpriseOptions): (requirements: TokenRequirements) => Promise<string> {
  const authenticate = createClientAuthenticator(idp.client)
  const findServer = createIdentityServerFinder(idp)
  return async (requirements) => {
    const { signal } = requirements.serverContext
    const server = await findServer(fetch, signal)
    const serverContext = { server, fetch, signal }
    const client = await authenticate(server)
    const assertion = toIdentityAssertion(await identity({ rejectedToken: undefined, signal }))
    try {
      return await exchangeToken(serverContext, client, createExchangeFields(requirements, assertion))
    } catch (error) {
      if (!isAuthError(error) || error.error !== 'invalid_grant') throw error
      const nextAssertion = toIdentityAssertion(await identity({ rejectedToken: assertion.token, signal }))
      // The same one would be refused again.
      if (nextAssertion.token === assertion.token) throw error
      return exchangeToken(serverContext, client, createExchangeFields(requirements, nextAssertion))
    }
  }
}

function toIdentityAssertion(identity: string | IdentityAssertion): IdentityAssertion {
  const assertion = typeof identity === 'string' ? { token: identity, type: 'id_token' as const } : identity
  if (assertion.token !== '') return assertion
  throw new AuthError('client_needed', '`identity` returned an empty token: the person has to log in at the provider')
}

function createExchangeFields(
  { serverContext, resource, scopes }: TokenRequirements,
  { token, type }: IdentityAssertion,
): Record<string, string> {
  return {
    requested_token_type: tokenTypeUrnOf('id-jag'),
    audience: serverContext.server.issuer,
    resource,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    subject_token: token,
    subject_token_type: tokenTypeUrnOf(type),
  }
}

/** The identity provider is chosen by the user and not by a server, so its own address vouches for it. */
function createIdentityServerFinder({
  issuer,
  tokenEndpoint,
}: IdentityProvider): (fetch: FetchFunction, signal: AbortSignal) => Promise<AuthorizationServer> {
  for (const url of [issuer, ...(tokenEndpoint === undefined ? [] : [tokenEndpoint])]) checkProviderUrl(url)
  if (tokenEndpoint !== undefined) return async () => ({ issuer, token_endpoint: tokenEndpoint })
  return (fetch, signal) => discoverServerMetadata({ issuer, sourceUrl: new URL(issuer), fetch, signal })
}

function checkProviderUrl(text: string): void {
  if (!URL.canParse(text)) throw new TypeError(`\`idp\` has ${JSON.stringify(text)}, which is no absolute URL`)
  try {
    parseSafeUrl(text, new URL(text), '`idp`')
  } catch (error) {
    throw new TypeError(error instanceof Error ? error.message : '`idp` has an address that is not https')
  }
}
