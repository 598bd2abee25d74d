import { readFile } from 'node:fs/promises'
import { type AuthStore, oauth, type Redirect } from '@x/auth/client'
import { dpop } from '@x/auth/dpop'
import { enterprise } from '@x/auth/enterprise'
import { clientCredentials, workload } from '@x/auth/machine'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'

// #region credentials
/** A job that runs at night. It has its own key, and no user. */
export async function nightlyJob(url: string, issuer: string, keyFile: string): Promise<readonly string[]> {
  const privateKey = await readFile(keyFile, 'utf8')
  const auth = clientCredentials({ issuer, client: { id: 'nightly', key: { privateKey, algorithm: 'ES256' } } })
  await using connection = connectHttp(url, { auth })
  const { capabilities } = auth
  const client = createClient(connection, { name: 'nightly', version: '1.0.0', capabilities })
  return (await client.listTools()).map(({ name }) => name)
}
// #endregion credentials

/** A program without credentials. Its platform writes a fresh token into a file. */
export async function importer(url: string, issuer: string, tokenFile: string): Promise<readonly string[]> {
  // #region workload
  const assertion = (): Promise<string> => readFile(tokenFile, 'utf8')
  const auth = workload({ issuer, client: { id: 'importer' }, assertion })
  // #endregion workload
  await using connection = connectHttp(url, { auth })
  const client = createClient(connection, { name: 'importer', version: '1.0.0' })
  return (await client.listTools()).map(({ name }) => name)
}

/** The session of a user who logged in to the program at the identity provider of their company. */
export interface Session {
  idToken(): Promise<string>
  /** Renews the login without asking the user, if the provider allows that. */
  renew(signal: AbortSignal): Promise<string>
}

export async function assistant(
  url: string,
  servers: { readonly issuer: string; readonly idp: string },
  session: Session,
): Promise<readonly string[]> {
  // #region enterprise
  const auth = enterprise({
    issuer: servers.issuer,
    client: { id: 'assistant', secret: process.env['ASSISTANT_SECRET'] },
    idp: { issuer: servers.idp, client: { id: 'assistant-at-idp', secret: process.env['IDP_SECRET'] } },
    identity: ({ rejectedToken, signal }) => (rejectedToken === undefined ? session.idToken() : session.renew(signal)),
  })
  // #endregion enterprise
  await using connection = connectHttp(url, { auth })
  const { capabilities } = auth
  const client = createClient(connection, { name: 'assistant', version: '1.0.0', capabilities })
  return (await client.listTools()).map(({ name }) => name)
}

/** Lists tools with tokens that are useless to anyone who copies a request or a log. */
export async function boundTools(url: string, redirect: Redirect, store: AuthStore): Promise<readonly string[]> {
  const auth = oauth({ client: { name: 'Items' }, redirect, store, dpop: dpop({ required: true }) })
  await using connection = connectHttp(url, { auth })
  const client = createClient(connection, { name: 'items-cli', version: '1.0.0' })
  return (await client.listTools({ timeoutMs: 300_000 })).map(({ name }) => name)
}
