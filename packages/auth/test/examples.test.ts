import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryAuthStore } from '@x/auth/client'
import { createServer, tool } from '@x/server'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import * as programs from '../examples/log-in.ts'
import { createTestEnvironment, rejectionOf, type TestEnvironment } from '../src/testing/world.ts'

/** A world whose endpoint is a server with one tool. */
async function itemsWorld(): Promise<TestEnvironment> {
  const world = await createTestEnvironment()
  const tools = [tool('list_items', { description: 'Lists items', run: () => 'none' })]
  world.resource.exchange = createServer({ name: 'items', version: '1.0.0', tools }).exchange
  return world
}

test('the quick start logs in through a browser once, and not when it is run again', async () => {
  await using world = await itemsWorld()
  const folder = await mkdtemp(join(tmpdir(), 'auth-quick-start-'))
  const [outfile, browser] = [join(folder, 'program.mjs'), join(folder, 'xdg-open')]
  await build({
    entryPoints: [fileURLToPath(new URL('../examples/quick-start.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
  await writeFile(browser, `#!${process.execPath}\nfetch(process.argv[2])\n`)
  await chmod(browser, 0o755)
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, XDG_CONFIG_HOME: folder, HOME: folder }
  const run = async (): Promise<readonly [unknown, string, string]> => {
    const child = spawn(process.execPath, [outfile, world.resource.url], { env })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    const [code] = await once(child, 'close')
    return [code, stdout, stderr]
  }
  expect(await run()).toEqual([0, 'list_items\n', expect.stringMatching(/^To log in, visit http:/)])
  expect(await run()).toEqual([0, 'list_items\n', ''])
  expect(world.authorizationServer.count('/authorize')).toBe(1)
  await rm(folder, { recursive: true, force: true })
})

test('a web host sends each user to log in, and shows the tools after the return', async () => {
  await using world = await itemsWorld()
  const stores = new Map([
    ['user=ada', memoryAuthStore()],
    ['user=bob', memoryAuthStore()],
  ])
  const port = await freePort()
  const base = `http://localhost:${port}`
  const web = programs.serveWeb(world.resource.url, base, (cookie = '') => stores.get(cookie) ?? memoryAuthStore())
  await new Promise<void>((resolve) => web.listen(port, 'localhost', resolve))
  const visit = (url: string, user: string): Promise<Response> =>
    fetch(url, { redirect: 'manual', headers: { cookie: `user=${user}` } })
  const locationOf = (response: Response): string => response.headers.get('location') ?? ''

  const away = locationOf(await visit(`${base}/tools`, 'ada'))
  expect(away).toContain(`${world.authorizationServer.issuer}/authorize`)
  const back = locationOf(await visit(away, 'ada'))
  // Another user cannot finish what Ada began, and so does not get her login.
  expect((await visit(back, 'bob')).status).toBe(502)
  expect(locationOf(await visit(back, 'ada'))).toBe('/tools')
  expect(await (await visit(`${base}/tools`, 'ada')).text()).toBe('list_items')
  expect(locationOf(await visit(`${base}/tools`, 'bob'))).toContain('/authorize')
  await new Promise((resolve) => web.close(resolve))
})

async function freePort(): Promise<number> {
  const { createServer: listenTcp } = await import('node:net')
  const server = listenTcp()
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const at = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof at === 'object' && at !== null ? at.port : 0
}

test('a page leaves for a login and continues after it, and downloads have its token', async () => {
  await using world = await itemsWorld()
  const values = new Map<string, string>()
  const storage = {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  }
  let href = 'https://app.example.com/'
  const location = {
    get href() {
      return href
    },
    assign: (url: string) => {
      href = url
    },
  }
  const history = {
    replaceState: (_data: unknown, _unused: string, url: string) => void (href = new URL(url, href).href),
  }
  const first = await programs.openPage(location, storage, history)
  expect(await rejectionOf(programs.logIn(first, world.resource.url))).toMatchObject({ code: 'authorization_needed' })
  href = (await fetch(href, { redirect: 'manual' })).headers.get('location') ?? ''
  const auth = await programs.openPage(location, storage, history)
  expect(href).not.toContain('state=')
  world.resource.routes.set('/files/1', ({ headers }) => ({ body: String(headers.authorization) }))
  const bytes = await programs.download(auth, world.resource.url, '/files/1')
  expect(new TextDecoder().decode(bytes)).toMatch(/^Bearer canary-access-/)
  await programs.logOut(auth, world.resource.url)
  expect(world.authorizationServer.count('/revoke')).toBe(2)
})

test('the other hosts of the guide can be made', () => {
  expect(programs.commandLine()).toHaveProperty('login')
  expect(programs.hosted('https://app.example.com/callback', memoryAuthStore())).toHaveProperty('finishLogin')
})
