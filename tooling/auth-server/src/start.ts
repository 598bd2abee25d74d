import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Initial state of an authorization server. */
export interface AuthServerOptions {
  /** Default: a free port. A server that starts again at its port has forgotten everything. */
  readonly port?: number
  /** Registered clients, with the metadata of RFC 7591. */
  readonly clients?: readonly Readonly<Record<string, unknown>>[]
  /** The resources for which the server issues tokens. Any other is `invalid_target`. */
  readonly resources?: readonly {
    readonly resource: string
    readonly scopes?: readonly string[]
    /** The scopes of clients with fewer permissions, by their ids. */
    readonly clientScopes?: Readonly<Record<string, readonly string[]>>
    readonly format?: 'jwt' | 'opaque'
  }[]
  /** Issuers whose assertions are accepted: the address of their keys, or the keys. */
  readonly trusted?: Readonly<Record<string, string | { readonly keys: readonly object[] }>>
  /** Client metadata documents by their URLs. */
  readonly clientDocuments?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Lifetime of access tokens in seconds. 300 by default. */
  readonly tokenTtl?: number
  readonly requireDpopNonce?: boolean
  /** Rejects authorization requests that were not pushed (RFC 9126). */
  readonly requirePushedRequests?: boolean
  /** Shows the provider's own pages for login and consent in a browser. */
  readonly pages?: boolean
  /**
   * The accounts from which the user chooses on a page without a password. Without them there is no page, and every
   * user is "ada".
   */
  readonly accounts?: readonly string[]
}

/** An authorization server in a separate process. */
export interface AuthServer {
  readonly issuer: string
  /** Obtains a token by client credentials. */
  issue(request: IssueRequest): Promise<string>
  /**
   * Follows an authorization URL as a browser does, and chooses the account on the page. Returns the URL of the
   * redirect to another origin.
   */
  browse(url: URL | string, account?: string): Promise<URL>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A token request of a program without a user. */
export interface IssueRequest {
  readonly id: string
  readonly secret: string
  readonly resource: string
  readonly scope?: string
  /** More headers, such as `DPoP`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The path of the version of Node that oidc-provider requires. */
export const node22 = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
// The built file is in a folder beside the source.
const program = fileURLToPath(new URL('../src/provider.mjs', import.meta.url))

/** Starts an authorization server (oidc-provider) on a free port of this machine. */
export async function startAuthServer(options: AuthServerOptions = {}): Promise<AuthServer> {
  const child = spawn(node22, [program, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk) => (log += String(chunk)))
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line'), exited.then(() => undefined)])
  if (first === undefined) throw new Error(`The authorization server did not start:\n${log}`)
  const { issuer } = JSON.parse(String(first[0]))
  const close = async (): Promise<void> => {
    child.stdin.end()
    await exited
  }
  return {
    issuer,
    issue: (request) => issueToken(issuer, request),
    browse: (url, account) => browse({ issuer, account }, url),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function issueToken(issuer: string, { id, secret, resource, scope, headers }: IssueRequest): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    resource,
    ...(scope !== undefined && { scope }),
  })
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
  const response = await fetch(`${issuer}/token`, { method: 'POST', body, headers: { ...headers, authorization } })
  const answer: unknown = await response.json()
  const token =
    typeof answer === 'object' && answer !== null && 'access_token' in answer ? answer.access_token : undefined
  if (typeof token === 'string') return token
  throw new Error(`No token: ${JSON.stringify(answer)}`)
}

const maxSteps = 10

interface BrowseOptions {
  readonly issuer: string
  readonly account: string | undefined
}

async function browse({ issuer, account }: BrowseOptions, from: URL | string): Promise<URL> {
  const cookies = new Map<string, string>()
  let url = new URL(from)
  let form: Pick<RequestInit, 'method' | 'body'> = {}
  for (let step = 0; step < maxSteps && url.origin === issuer; step += 1) {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...form, redirect: 'manual', headers: { cookie } })
    storeCookies(response, cookies)
    const location = response.headers.get('location')
    form = location === null ? await submitForm(response, account) : {}
    if (location !== null) url = new URL(location, url)
  }
  return url
}

function storeCookies(response: Response, cookies: Map<string, string>): void {
  for (const set of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
    cookies.set(name, value)
  }
}

/** Returns the form of the login page with the chosen account. Rejects for any other page. */
async function submitForm(
  response: Response,
  account: string | undefined,
): Promise<Pick<RequestInit, 'method' | 'body'>> {
  const page = await response.text()
  if (account !== undefined && page.includes('name="account"')) {
    return { method: 'POST', body: new URLSearchParams({ account }) }
  }
  throw new Error(`${response.url} is a page: ${page.slice(0, 500)}`)
}
