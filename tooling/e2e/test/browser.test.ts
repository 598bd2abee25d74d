import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { describeNeeding } from '@tooling/vitest/needs'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { build } from 'esbuild'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createGate } from '@tooling/vitest/gate'

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

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
  let site: { origin: string; server: HttpServer }
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args })
    site = await serveSite(await bundlePage())
  })
  afterAll(async () => {
    await browser?.close()
    site?.server.close()
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
    const page = await openPage()
    const logIn = (): Promise<string> =>
      page.evaluate(`logInFromPage(${JSON.stringify(issuer.url)}, ${JSON.stringify(site.origin)})`)
    expect(new URL(await logIn()).searchParams.get('redirect_uri')).toBe(site.origin)
    issuer.allowsPages = false
    const question = `could not be reached; in a page: does it allow the origin ${site.origin} (CORS)?`
    expect(await logIn()).toContain(question)
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

/** Serves an MCP endpoint that requires a login, and the metadata of its authorization server. */
async function serveIssuer(): Promise<{ url: string; server: HttpServer; allowsPages: boolean }> {
  const server = createHttpServer((request, response) => {
    const origin = `http://${request.headers.host}`
    const documents: Record<string, object> = {
      '/.well-known/oauth-protected-resource/mcp': { resource: `${origin}/mcp`, authorization_servers: [origin] },
      '/.well-known/oauth-authorization-server': {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        code_challenge_methods_supported: ['S256'],
      },
      '/register': { client_id: 'page' },
    }
    const document = documents[request.url ?? '']
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
    response.writeHead(document === undefined ? 404 : 200, {
      'content-type': 'application/json',
      ...(issuer.allowsPages && cors),
    })
    response.end(JSON.stringify(document ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const issuer = { url: `http://127.0.0.1:${port}/mcp`, server, allowsPages: true }
  return issuer
}

async function bundlePage(): Promise<string> {
  const entry = fileURLToPath(new URL('./browser/page.ts', import.meta.url))
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'chrome110',
  })
  return result.outputFiles.map(({ text }) => text).join('\n')
}

function serveSite(script: string): Promise<{ origin: string; server: HttpServer }> {
  const server = createHttpServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' })
    response.end(isScript ? script : '<!doctype html><title>A page</title><script src="/page.js"></script>')
  })
  return new Promise((resolve) => {
    // The page uses the name localhost, so that its origin and the endpoint differ in host and port.
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      resolve({ origin: `http://localhost:${port}`, server })
    })
  })
}
