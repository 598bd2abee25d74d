import { generateKeyPairSync } from 'node:crypto'
import { type AuthServer, startAuthServer } from '@tooling/auth-server'
import { oauth, type OAuth, type Redirect } from '@x/auth/client'
import { dpop as bindTokens } from '@x/auth/dpop'
import { clientCredentials, type MachineAuth } from '@x/auth/machine'
import { scopes } from './protect-work-items.ts'

/** The accounts of the two people who can log in. */
export const accounts = ['ada', 'eve'] as const

/** An authorization server for this run, with its clients. */
export interface LoginService {
  readonly issuer: string
  readonly accounts: typeof accounts
  /** The environment variables with which an instance accepts the tokens of this server. */
  readonly environment: Readonly<Record<string, string>>
  /** The OAuth client of the first account. */
  readonly auth: OAuth
  /** Creates an OAuth client for an account. It logs in at the first call. */
  personAuth(account: (typeof accounts)[number]): OAuth
  /** The client of a job. It authenticates with its own key and has the scope to read only. */
  readonly job: MachineAuth
  stop(): Promise<void>
}

const jobId = 'nightly-report'

/** Starts an authorization server (oidc-provider) for one endpoint. With `dpop`, tokens are bound to keys. */
export async function openLogin(endpoint: string, { dpop }: { readonly dpop: boolean }): Promise<LoginService> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const server = await startAuthServer({
    accounts,
    resources: [{ resource: endpoint, scopes: [scopes.read, scopes.write], clientScopes: { [jobId]: [scopes.read] } }],
    clients: [
      {
        client_id: jobId,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
      },
    ],
  })
  const { issuer } = server
  const bound = dpop ? bindTokens({ required: true }) : undefined
  const key = { privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), algorithm: 'ES256' }
  const personAuth = (account: string): OAuth =>
    oauth({ client: { name: 'Walk-through' }, redirect: scriptedBrowser(server, account), dpop: bound })
  return {
    issuer,
    accounts,
    environment: {
      AUTH_ISSUERS: issuer,
      AUTH_RESOURCE: endpoint,
      AUTH_DPOP: dpop ? 'required' : 'accepted',
    },
    auth: personAuth(accounts[0]),
    personAuth,
    job: clientCredentials({ issuer, client: { id: jobId, key }, dpop: bound }),
    stop: server.close,
  }
}

/**
 * Creates a redirect that visits the login page and selects the account without a browser. Other programs use
 * `loopbackRedirect`.
 */
function scriptedBrowser({ browse }: AuthServer, account: string): Redirect {
  return {
    applicationType: 'native',
    open: async () => ({
      uri: 'http://127.0.0.1/callback',
      visit: (url) => browse(url, account),
      close: async () => {},
    }),
  }
}
