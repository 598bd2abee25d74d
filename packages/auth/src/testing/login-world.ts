import type { LogRecord } from '@x/core'
import type { HttpAuthorizer, Principal } from '@x/exchange'
import { memoryStore, randomKey, type StateStore } from '@x/state-codec'
import { type UserLogin, userLogin, type UserLoginOptions } from '../login.ts'
import { protect } from '../server.ts'
import {
  createScriptedAuthorizationServer,
  createScriptedResource,
  type ScriptedAuthorizationServer,
  type ScriptedResource,
} from './scripted-as.ts'

/** Nothing listens there. */
export const gatewayUrl = 'http://127.0.0.1:9/mcp'
export const pagesUrl = 'http://127.0.0.1:9/login'

/** The browser of one person, with its cookies. */
export interface TestBrowser {
  readonly cookies: Map<string, string>
  /** Name under which the person is logged in at the issuer of the gateway. */
  person: string
}

export interface ArrivedPage {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** Addresses of authorization servers that the browser visited, in order. */
  readonly visited: readonly URL[]
  /** Addresses of the gateway that the browser visited, in order. */
  readonly answers: readonly URL[]
}

/** A gateway of several instances, an upstream, and an authorization server for each of them. */
export interface LoginWorld extends AsyncDisposable {
  readonly company: ScriptedAuthorizationServer
  readonly crm: ScriptedAuthorizationServer
  readonly upstream: ScriptedResource
  readonly records: LogRecord[]
  readonly createInstance: (options?: Partial<UserLoginOptions>) => LoginInstance
  readonly userOf: (subject: string) => Principal
  readonly advanceTime: (ms: number) => void
  /** The instances serve the gateway's pages in turns. */
  readonly open: (instances: readonly LoginInstance[], url: string | URL, browser: TestBrowser) => Promise<ArrivedPage>
}

export interface LoginInstance extends UserLogin {
  readonly find: (principal: Principal | undefined) => Promise<HttpAuthorizer | { readonly loginUrl: string }>
  /** The page of the login that a user needs. */
  readonly linkOf: (principal: Principal) => Promise<string>
}

export const createBrowser = (person: string): TestBrowser => ({ cookies: new Map(), person })

export async function createLoginWorld(store: StateStore = memoryStore()): Promise<LoginWorld> {
  const [company, crm] = [await createScriptedAuthorizationServer(), await createScriptedAuthorizationServer()]
  const upstream = await createScriptedResource(crm)
  const [records, keys]: [LogRecord[], string[]] = [[], [randomKey()]]
  let now = Date.now()
  let person = ''
  const protection: UserLoginOptions['protection'] = {
    documents: protect({ resource: gatewayUrl, issuers: [company.issuer] }).documents,
    authenticate: ({ headerValues }) => {
      const [token = ''] = headerValues('authorization')
      return company.accepts(token.replace('Bearer ', ''), gatewayUrl)
        ? { issuer: company.issuer, subject: person, client: 'gateway' }
        : { status: 401, message: 'no', headers: {} }
    },
  }
  const createInstance = (options: Partial<UserLoginOptions> = {}): LoginInstance => {
    const logins = userLogin({
      url: pagesUrl,
      protection,
      client: { name: 'Company gateway' },
      store,
      keys,
      log: (record) => void records.push(record),
      runtime: { now: () => now },
      ...options,
    })
    const find = logins.credentialFor(upstream.url)
    const linkOf = async (principal: Principal): Promise<string> => {
      const found = await find(principal)
      if ('loginUrl' in found) return found.loginUrl
      throw new Error('The user is logged in')
    }
    return { ...logins, find, linkOf }
  }
  return {
    company,
    crm,
    upstream,
    records,
    createInstance,
    userOf: (subject) => ({ issuer: company.issuer, subject, client: 'host' }),
    advanceTime: (ms) => void (now += ms),
    open: (instances, from, browser) => {
      person = browser.person
      return follow(instances, new URL(from), browser)
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of [company, crm, upstream]) await server[Symbol.asyncDispose]()
    },
  }
}

async function follow(instances: readonly LoginInstance[], from: URL, browser: TestBrowser): Promise<ArrivedPage> {
  const [visited, answers]: [URL[], URL[]] = [[], []]
  let url = from
  for (let step = 0; step < 10; step += 1) {
    if (url.origin !== new URL(pagesUrl).origin) {
      visited.push(url)
      const { headers } = await fetch(url, { redirect: 'manual' })
      url = new URL(headers.get('location') ?? 'about:blank')
      continue
    }
    answers.push(url)
    const page = await instances[step % instances.length]?.handle(createRequest(url, browser))
    if (page === undefined) throw new Error(`There is no page at ${url.pathname}`)
    storeCookies(page, browser)
    const { status, headers } = page
    const location = headers.get('location')
    if (location === null) return { status, text: await page.text(), headers, visited, answers }
    url = new URL(location)
  }
  throw new Error('The pages redirect endlessly')
}

function createRequest(url: URL, { cookies }: TestBrowser): Request {
  const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ')
  return new Request(url, { headers: { cookie } })
}

function storeCookies({ headers }: Response, { cookies }: TestBrowser): void {
  for (const text of headers.getSetCookie()) {
    const [pair = ''] = text.split(';')
    const separator = pair.indexOf('=')
    const value = pair.slice(separator + 1)
    if (value === '') cookies.delete(pair.slice(0, separator))
    else cookies.set(pair.slice(0, separator), value)
  }
}
