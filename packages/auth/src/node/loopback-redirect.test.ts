import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callWithAuth, createTestEnvironment, rejectionOf, completeResponse } from '../testing/world.ts'
import { memoryAuthStore } from '../client/store.ts'
import { loopbackRedirect, openBrowser } from './loopback-redirect.ts'

const quiet = { showLoginUrl: () => {} }
/** A browser: it follows redirects, down to the page that it shows. */
const browse = async (url: URL): Promise<void> => {
  const response = await fetch(url)
  expect(await response.text()).toContain('You can close this page')
}

describe('A login through the loopback address', () => {
  test('takes a free port, and registers the address with it and without it [AUS-009 AUS-017 AUE-029]', async () => {
    await using w = await createTestEnvironment()
    const shown: URL[] = []
    const needed: (readonly string[])[] = []
    const redirect = loopbackRedirect({
      open: (url) => void browse(url),
      showLoginUrl: (url, addedScopes) => {
        shown.push(url)
        needed.push(addedScopes)
      },
    })
    const auth = w.createOAuth({ redirect })
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    const uri = new URL(shown[0]?.searchParams.get('redirect_uri') ?? '')
    expect([uri.hostname, uri.pathname, uri.port === '']).toEqual(['127.0.0.1', '/callback', false])
    const registration = w.authorizationServer.received.find(({ path }) => path === '/register')
    expect(JSON.parse(registration?.body ?? '')).toMatchObject({
      redirect_uris: ['http://127.0.0.1/callback', uri.href],
    })
    // The listener has closed.
    await expect(fetch(uri)).rejects.toThrow('fetch failed')
    w.authorizationServer.expireTokens()
    w.authorizationServer.expireLogins()
    expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    expect(w.authorizationServer.count('/register')).toBe(1)
    w.resource.requiredScopes.set('erase', ['items:erase'])
    expect(await callWithAuth(w.resource.url, auth, 'erase')).toMatchObject(completeResponse)
    expect(needed).toEqual([[], [], ['items:erase']])
  })

  test('takes the first free port of those that are registered', async () => {
    await using w = await createTestEnvironment()
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const free = createServer()
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve))
    const ports = [taken, free].map((server) => {
      const at = server.address()
      return typeof at === 'object' && at !== null ? at.port : 0
    })
    await new Promise((resolve) => free.close(resolve))
    const shown: URL[] = []
    const redirect = loopbackRedirect({
      ports,
      open: (url) => void browse(url),
      showLoginUrl: (url) => void shown.push(url),
    })
    await callWithAuth(w.resource.url, w.createOAuth({ redirect }))
    expect(shown[0]?.searchParams.get('redirect_uri')).toBe(`http://127.0.0.1:${ports[1]}/callback`)
    await new Promise((resolve) => taken.close(resolve))
  })

  test('is not ended by other requests to its port: another state, path, host or verb [AUS-019 AUE-029]', async () => {
    await using w = await createTestEnvironment()
    const statuses: number[] = []
    const open = async (url: URL): Promise<void> => {
      const response = await fetch(url, { redirect: 'manual' })
      const answer = new URL(response.headers.get('location') ?? '')
      const forged = new URL(answer)
      forged.searchParams.set('state', 'forged')
      const elsewhere = new URL(answer)
      elsewhere.pathname = '/'
      const named = new URL(answer)
      named.hostname = 'localhost'
      const others: [URL, RequestInit][] = [
        [forged, {}],
        [elsewhere, {}],
        [answer, { method: 'POST' }],
        [named, {}],
      ]
      for (const [address, request] of others) statuses.push((await fetch(address, request)).status)
      statuses.push((await fetch(answer)).status)
    }
    expect(
      await callWithAuth(w.resource.url, w.createOAuth({ redirect: loopbackRedirect({ ...quiet, open }) })),
    ).toMatchObject(completeResponse)
    expect(statuses).toEqual([404, 404, 404, 404, 200])
  })

  test('shows nothing of its answer, lets no script run, and reads no body (CVE-2025-58444, CVE-2026-109527)', async () => {
    await using w = await createTestEnvironment()
    const pages: [string | null, string][] = []
    const open = async (url: URL): Promise<void> => {
      const answer = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '')
      answer.searchParams.set('error_description', '<script>alert(1)</script>')
      const forged = await fetch(answer, { method: 'POST', body: 'x'.repeat(10_000_000) }).catch(() => undefined)
      expect(forged?.status ?? 404).toBe(404)
      const page = await fetch(answer)
      pages.push([page.headers.get('content-security-policy'), await page.text()])
    }
    await callWithAuth(w.resource.url, w.createOAuth({ redirect: loopbackRedirect({ ...quiet, open }) }))
    expect(pages).toEqual([["default-src 'none'", expect.not.stringMatching(/script|canary/)]])
  })

  test.each([
    ['access_denied', 'The login was refused. You can close this page'],
    ['server_error', 'The login has failed. You can close this page'],
  ])('shows in its page that the authorization server answered %s', async (error, text) => {
    await using w = await createTestEnvironment()
    const pages: string[] = []
    const open = async (url: URL): Promise<void> => {
      const answer = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '')
      answer.searchParams.delete('code')
      answer.searchParams.set('error', error)
      pages.push(await (await fetch(answer)).text())
    }
    const login = w.createOAuth({ redirect: loopbackRedirect({ ...quiet, open }) }).login(w.resource.url)
    expect(await rejectionOf(login)).toMatchObject({ code: 'authorization_denied', error })
    await expect.poll(() => pages).toEqual([expect.stringContaining(text)])
  })

  test('works at a server that compares redirect URIs exactly, also with the registration of an earlier login', async () => {
    await using w = await createTestEnvironment()
    const { routes, received } = w.authorizationServer
    const authorize = routes.get('/authorize')
    const registeredUris = () => {
      const [registration] = received.filter(({ path }) => path === '/register')
      return (JSON.parse(registration?.body ?? '{}') as { redirect_uris: string[] }).redirect_uris
    }
    routes.set('/authorize', (one) =>
      authorize !== undefined && registeredUris().includes(one.query.get('redirect_uri') ?? '')
        ? authorize(one)
        : { status: 400, body: 'invalid redirect_uri' },
    )
    const store = memoryAuthStore()
    const open = (url: URL) => void browse(url)
    for (let logins = 0; logins < 2; logins += 1) {
      w.authorizationServer.expireTokens()
      w.authorizationServer.expireLogins()
      const auth = w.createOAuth({ redirect: loopbackRedirect({ ...quiet, open }), store })
      expect(await callWithAuth(w.resource.url, auth)).toMatchObject(completeResponse)
    }
    expect(registeredUris()).toEqual([
      'http://127.0.0.1/callback',
      expect.stringMatching(/^http:..127.0.0.1:\d+.callback$/),
    ])
    expect(w.authorizationServer.count('/register')).toBe(1)
    expect(w.authorizationServer.count('/authorize')).toBe(2)
  })

  test('works where no browser opens: the person has the address', async () => {
    await using w = await createTestEnvironment()
    const redirect = loopbackRedirect({
      showLoginUrl: (url) => void browse(url),
      open: () => Promise.reject(new Error('no browser')),
    })
    expect(await callWithAuth(w.resource.url, w.createOAuth({ redirect }))).toMatchObject(completeResponse)
  })

  test('ends with an error when its program gives up, and the port is free again', async () => {
    await using w = await createTestEnvironment()
    const controller = new AbortController()
    let uri = ''
    const redirect = loopbackRedirect({
      ...quiet,
      open: (url) => {
        uri = url.searchParams.get('redirect_uri') ?? ''
        controller.abort()
      },
    })
    const login = w.createOAuth({ redirect }).login(w.resource.url, { signal: controller.signal })
    expect(await rejectionOf(login)).toMatchObject({ code: 'login_ended' })
    await expect(fetch(uri)).rejects.toThrow('fetch failed')
  })
})

test.each(['callback', '', '/call back', '/callback?a=b', '//callback'])(
  'A path of a redirect that no response could arrive at is refused: %j',
  (path) => {
    expect(() => loopbackRedirect({ path })).toThrow('write the path of a URL, such as "/callback"')
  },
)

test('An error says that all ports of a redirect are in use', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  const opening = loopbackRedirect({ ...quiet, ports: [port] }).open(new AbortController().signal)
  await expect(opening).rejects.toThrow(`use all ports of loopbackRedirect (${port})`)
  await new Promise((resolve) => taken.close(resolve))
})

test.skipIf(process.platform !== 'linux')(
  'An address is one argument of a program with any characters in it (CVE-2025-6514) [AUE-028]',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'open-browser-'))
    const [program, written] = [join(folder, 'xdg-open'), join(folder, 'args')]
    await writeFile(
      program,
      `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${written}.new'; mv '${written}.new' '${written}'\n`,
    )
    await chmod(program, 0o755)
    const { PATH } = process.env
    process.env['PATH'] = `${folder}:${PATH}`
    try {
      const address = `https://auth.example.com/a?b=$(touch%20${folder}/x)&c=\`id\`;d|e`
      await openBrowser(new URL(address))
      await expect.poll(() => readFile(written, 'utf8').catch(() => '')).toBe(`1\n${new URL(address).href}\n`)
    } finally {
      process.env['PATH'] = PATH
      await rm(folder, { recursive: true, force: true })
    }
  },
)

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://example.com/', 'data:text/html,x', 'vscode://x'])(
  '%s is not opened [AUE-028]',
  async (address) => {
    await expect(openBrowser(new URL(address))).rejects.toThrow(TypeError)
  },
)

test('A machine without a browser is an error, and no crash', async () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nowhere'
  try {
    await expect(openBrowser(new URL('https://example.com/'))).rejects.toThrow('ENOENT')
  } finally {
    process.env['PATH'] = PATH
  }
})
