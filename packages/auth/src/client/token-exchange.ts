import { checkArgument, type OptionTable, resolveOptions } from '@x/core'
import type { Principal } from '@x/exchange'
import type { HttpAuthorizer } from '@x/transport-http/client'
import { findToken } from '../server/caller-token.ts'
import { AuthError, isAuthError } from './auth-error.ts'
import { CallerCache } from './caller-cache.ts'
import { createGrantFields, createMachineAuth, machineOptionTable, type MachineOptions } from './machine.ts'
import { type ClientAuthenticator, type MachineClient, requireClientAuthenticator } from './machine-client.ts'
import { exchangeToken, type TokenGrant, tokenTypeUrnOf } from './token-requests.ts'
import type { TokenRequirements } from './token-source.ts'

/** Options of {@link tokenExchange}. */
export interface TokenExchangeOptions extends Omit<MachineOptions, 'store' | 'dpop'> {
  /** The gateway as a client at the authorization server. It must have a key or a secret. */
  readonly client: MachineClient
  /** Logical name of the upstream at the authorization server, beside its `resource`. Default: none. */
  readonly audience?: string | undefined
  /** Issuer whose tokens are exchanged; the authorization server gets no others. Default: `issuer`. */
  readonly subjectIssuer?: string | undefined
}

const { store: _store, dpop: _dpop, ...callerOptionTable } = machineOptionTable
const tokenExchangeOptionTable = {
  ...callerOptionTable,
  client: undefined,
  audience: undefined,
  subjectIssuer: undefined,
} satisfies OptionTable<TokenExchangeOptions>

interface CallerExchange {
  readonly auth: HttpAuthorizer
  principal: Principal
}

/**
 * Exchanges each caller's token for a token of an upstream (RFC 8693): pass it as `credential` of an upstream of
 * `gateway`. The caller's token goes to the token endpoint of `issuer` and to no other address. It is the one that
 * `protect()` has verified in this process, so a principal of another source has none.
 *
 * An upstream's token is used for the calls of its caller alone, until it expires. A caller is the same client, subject
 * and scopes. Calls reject with {@link AuthError}.
 *
 * @example
 * const credential = tokenExchange({ issuer: 'https://login.example.com', client: { id: 'gateway', secret } })
 * const upstreams = { crm: { connect: ({ auth }) => connectAny(crmUrl, { http: { auth } }), credential } }
 *
 * @throws TypeError for an unknown option, and for a client without a key or a secret.
 */
export function tokenExchange(options: TokenExchangeOptions): (principal: Principal | undefined) => HttpAuthorizer {
  resolveOptions(options, tokenExchangeOptionTable, 'tokenExchange')
  checkArgument(options, { where: 'tokenExchange', takes: 'an object with client', needs: ['client'] })
  const authenticate = requireClientAuthenticator(options.client)
  // oxlint-disable-next-line no-restricted-properties -- the default of an option that tests replace
  const exchanges = new CallerCache<CallerExchange>(options.runtime?.now ?? Date.now)
  return (caller) => {
    const principal = requireSubject(caller, options)
    const key = callerOf(principal)
    const exchange = exchanges.get(key) ?? exchanges.set(key, createCallerExchange(principal, authenticate, options))
    exchange.principal = principal
    return exchange.auth
  }
}

/** Two tokens of one subject with different scopes are two callers, so that neither receives the rights of the other. */
function callerOf({ issuer, subject, client, scopes = [] }: Principal): string {
  return JSON.stringify([issuer, subject, client ?? null, scopes.toSorted()])
}

function requireSubject(
  principal: Principal | undefined,
  { issuer, subjectIssuer = issuer }: TokenExchangeOptions,
): Principal {
  if (principal === undefined || findToken(principal) === undefined) {
    const message =
      'The caller has no token to exchange: protect() of @x/auth/server must have verified it in this process'
    throw new AuthError('client_needed', message, { issuer })
  }
  if (principal.issuer === subjectIssuer) return principal
  const message = 'The token of the caller is of another issuer than `subjectIssuer`, so it is not exchanged'
  throw new AuthError('client_needed', message, { issuer })
}

function createCallerExchange(
  principal: Principal,
  authenticate: ClientAuthenticator,
  { client, audience, subjectIssuer: _, ...options }: TokenExchangeOptions,
): CallerExchange {
  const auth = createMachineAuth(options, {
    clientId: client.id,
    request: async (requirements) => {
      const subjectToken = findToken(exchange.principal) ?? ''
      const authenticated = await authenticate(requirements.serverContext.server)
      const fields = createExchangeFields(requirements, subjectToken, audience)
      return maskInErrors(subjectToken, exchangeToken(requirements.serverContext, authenticated, fields))
    },
  })
  const exchange: CallerExchange = { auth, principal }
  return exchange
}

function createExchangeFields(
  requirements: TokenRequirements,
  subjectToken: string,
  audience: string | undefined,
): Parameters<typeof exchangeToken>[2] {
  return {
    requested_token_type: tokenTypeUrnOf('access_token'),
    subject_token: subjectToken,
    subject_token_type: tokenTypeUrnOf('access_token'),
    ...createGrantFields(requirements),
    ...(audience !== undefined && { audience }),
  }
}

/** Some servers repeat the refused token in their error, and an opaque token looks like any other text. */
async function maskInErrors(token: string, exchanged: Promise<TokenGrant>): Promise<TokenGrant> {
  try {
    return await exchanged
  } catch (error) {
    if (!isAuthError(error) || !error.message.includes(token)) throw error
    const { code, message, issuer, error: reason } = error
    throw new AuthError(code, message.replaceAll(token, '…'), { issuer, error: reason })
  }
}
