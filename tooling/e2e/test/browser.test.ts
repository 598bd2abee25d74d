import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { findFreePort } from '@tooling/real-servers/free-port'
import { describeNeeding } from '@tooling/vitest/needs'
import { type IssuerOptions, protect } from '@x/auth/server'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createGate } from '@tooling/vitest/gate'
import { bundleScript, launchBrowser, serveSite, type Site } from './browser/site.ts'
import { listenLocally } from './listen-locally.ts'

const count = tool('count', {
  description: 'Counts',
  input: z.object({ to: z.number(), region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
  run: ({ to, region }, ctx) => {
    for (let step = 1; step <= to; step++) ctx.progress(step, to)
    return `counted to ${to} in ${region}`
  },
})

describeNeeding('chromium', 'a page in a browser, from another origin', (executablePath) => {
  let browser: Browser
  let site: Site
  beforeAll(async () => {
    browser = await launchBrowser(executablePath)
    site = await serveSite({
      '/': '<!doctype html><title>A page</title><script src="/page.js"></script>',
      '/page.js': await bundleScript(new URL('./browser/page.ts', import.meta.url)),
    })
  })
  afterAll(async () => {
    await browser?.close()
    site?.close()
  })
  const openPage = async (): Promise<Page> => {
    const page = await browser.newPage()
    await page.goto(site.origin)
    return page
  }

  test('lists tools and calls one, with its progress and its header parameters [SHT-002 SHT-016]', async () => {
    const server = createServer({ name: 'e2e-server', version: '1.0.0', tools: [count] })
    await using http = await serveHttp(server, { allowedOrigins: [site.origin] })
    const page = await openPage()
    const report = await page.evaluate(`callFromPage(${JSON.stringify(http.url)})`)
    expect(report).toEqual({ tools: ['count'], progress: [1, 2, 3], text: 'counted to 3 in Zürich' })
  })

  test('is rejected if its origin is not allowed [SHT-002]', async () => {
    let runs = 0
    const counted = tool('counted', { description: 'Counts its runs', run: () => String(++runs) })
    const server = createServer({ name: 'e2e-server', version: '1.0.0', tools: [counted] })
    await using http = await serveHttp(server, { allowedOrigins: ['https://app.example.com'] })
    const page = await openPage()
    const question = `the browser withholds the answer; in a page: does the server allow the origin ${site.origin} (CORS)?`
    await expect(page.evaluate(`callFromPage(${JSON.stringify(http.url)})`)).rejects.toThrow(question)
    expect(runs).toBe(0)
  })

  test('logs in with its origin as the redirect URI, and says that an authorization server allows no pages [AUT-103]', async () => {
    const issuer = await serveIssuer()
    const server = createServer({ name: 'e2e-server', version: '1.0.0', tools: [count] })
    const auth = protect({ resource: issuer.resource, issuers: [issuer.options] })
    await using http = await serveHttp(server, { auth, allowedOrigins: [site.origin], port: issuer.resourcePort })
    const page = await openPage()
    const call = `callWithLogin(${JSON.stringify(http.url)})`
    const returned = page.waitForURL((url) => url.origin === site.origin && url.searchParams.has('code'))
    // The call ends with its page.
    await page.evaluate(call).catch(() => undefined)
    await returned
    expect(await page.evaluate(call)).toContain('counted to 1 in Zürich')
    expect(issuer.redirectUris).toEqual([site.origin])
    issuer.allowsPages = false
    await page.evaluate('sessionStorage.clear()')
    await page.goto(site.origin)
    const question = `could not be reached; in a page: does it allow the origin ${site.origin} (CORS)?`
    expect(await page.evaluate(call)).toContain(question)
    issuer.server.close()
  })

  test('cancels a call by closing its stream [SHT-024 CAN-004]', async () => {
    const aborted = createGate()
    const wait = tool('wait', {
      description: 'Waits until it is cancelled',
      run: (_, ctx) =>
        new Promise<string>(() => {
          ctx.signal.addEventListener('abort', () => aborted.open())
          ctx.progress(1)
        }),
    })
    const server = createServer({ name: 'e2e-server', version: '1.0.0', tools: [wait] })
    await using http = await serveHttp(server, { allowedOrigins: [site.origin] })
    const page = await openPage()
    expect(await page.evaluate(`cancelFromPage(${JSON.stringify(http.url)})`)).toBe('Error: the user left')
    await aborted.opened
  })
})

interface Issuer {
  /** As `protect` takes it. */
  readonly options: IssuerOptions
  readonly server: HttpServer
  /** The MCP server that it issues tokens for, and its port. */
  readonly resource: string
  readonly resourcePort: number
  readonly redirectUris: readonly (string | null)[]
  allowsPages: boolean
}

/** Serves an authorization server whose user agrees at once. */
async function serveIssuer(): Promise<Issuer> {
  const resourcePort = await findFreePort()
  const resource = `http://127.0.0.1:${resourcePort}/mcp`
  const redirectUris: (string | null)[] = []
  const server = createHttpServer((request, response) => {
    const url = new URL(request.url ?? '/', issuer.options.issuer)
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    if (url.pathname === '/authorize') {
      const redirectUri = url.searchParams.get('redirect_uri')
      redirectUris.push(redirectUri)
      const answer = new URLSearchParams({ code: 'code', state: url.searchParams.get('state') ?? '' })
      return response.writeHead(302, { location: `${redirectUri}?${answer}` }).end()
    }
    const document = createIssuerDocuments(issuer.options.issuer, resource)[url.pathname]
    response.writeHead(document === undefined ? 404 : 200, {
      'content-type': 'application/json',
      ...(issuer.allowsPages && cors),
    })
    return response.end(JSON.stringify(document ?? {}))
  })
  const port = await listenLocally(server)
  const introspection = { client: { id: 'e2e-server', secret: 'secret' } }
  const options = { issuer: `http://127.0.0.1:${port}`, introspection }
  const issuer: Issuer = { options, resource, resourcePort, server, redirectUris, allowsPages: true }
  return issuer
}

const createIssuerDocuments = (issuer: string, resource: string): Record<string, object> => ({
  '/.well-known/oauth-authorization-server': {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    introspection_endpoint: `${issuer}/introspect`,
    code_challenge_methods_supported: ['S256'],
  },
  '/register': { client_id: 'page' },
  '/token': { access_token: 'token', token_type: 'Bearer', expires_in: 3600 },
  '/introspect': { active: true, aud: resource, sub: 'ada' },
})
