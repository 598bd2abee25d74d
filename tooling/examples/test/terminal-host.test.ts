import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describeNeeding } from '@tooling/vitest/needs'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { serveProtectedItems } from './protected-items.ts'

// Each test starts processes.
vi.setConfig({ testTimeout: 120_000 })

let folder = ''
let program = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terminal-host-'))
  program = join(folder, 'terminal-host.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('../src/terminal-host.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // undici is CommonJS.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Outcome {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

/** Runs the host with its own home folder and without a browser. `visit` receives the login URL that it prints. */
async function runHost(home: string, args: readonly string[], visit: (url: URL) => unknown): Promise<Outcome> {
  const env = { PATH: folder, HOME: home, XDG_CONFIG_HOME: home }
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [program, ...args], { env })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk
    const [, address] = /(?:To log in|To grant [^\n]*), visit (\S+)\n/.exec(chunk) ?? []
    if (address !== undefined) void visit(new URL(address))
  })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code, stdout, stderr }
}

describe('The host for the terminal', () => {
  test('logs the user in once, calls tools, requests the scopes of a tool, and logs out', async () => {
    await using items = await serveProtectedItems()
    const visited: URL[] = []
    // Follows the login as a browser does, back to the loopback address of the host.
    const visit = async (url: URL): Promise<void> => {
      visited.push(url)
      await fetch(await items.as.browse(url))
    }
    const run = (...args: string[]): Promise<Outcome> => runHost(folder, [items.url, ...args], visit)
    expect(await run()).toMatchObject({ code: 0, stdout: expect.stringContaining('list_items  Lists your items\n') })
    expect(await run('list_items')).toEqual({ code: 0, stdout: 'Milk\n', stderr: '' })
    const update = await run('update_item', '{"id":"1","title":"Tea"}')
    expect(update).toMatchObject({ code: 0, stdout: '1 is now Tea\n' })
    expect(visited.map(({ searchParams }) => searchParams.get('scope')?.includes('items:write'))).toEqual([false, true])
    expect(await run('--log-out')).toEqual({ code: 0, stdout: '', stderr: '' })
    await run()
    expect(visited).toHaveLength(3)
  })

  test('fails with one line that has the reason why there is no login', async () => {
    await using items = await serveProtectedItems()
    const decline = async (url: URL): Promise<void> => {
      url.searchParams.set('login_hint', 'none')
      await fetch(await items.as.browse(url))
    }
    const { code, stdout, stderr } = await runHost(join(folder, 'declined'), [items.url], decline)
    expect([code, stdout, stderr.split('\n')[1]]).toEqual([1, '', expect.stringContaining('"access_denied"')])
    const { as } = items
    await as.close()
    const unreachable = await runHost(join(folder, 'unreachable'), [items.url], () => undefined)
    expect(unreachable).toEqual({ code: 1, stdout: '', stderr: `${as.issuer} could not be reached\n` })
  })
})

describeNeeding('chromium', 'The host for the terminal, with a user in a browser', (executablePath) => {
  test('logs in through the pages of the authorization server, and receives the response', async () => {
    await using items = await serveProtectedItems({ pages: true })
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--no-first-run'] })
    try {
      const page = await browser.newPage()
      const pages: string[] = []
      const visit = async (url: URL): Promise<void> => {
        await page.goto(url.href)
        await page.fill('input[name=login]', 'ada')
        await page.fill('input[name=password]', 'any')
        await page.click('button[type=submit]')
        pages.push(await page.innerText('.container, body'))
        await page.click('button[type=submit]')
        await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/)
        pages.push(await page.innerText('p'))
      }
      const { code, stdout, stderr } = await runHost(join(folder, 'chromium'), [items.url, 'list_items'], visit)
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'Milk\n',
        stderr: expect.stringMatching(/^To log in, visit \S+\n$/),
      })
      await expect
        .poll(() => pages)
        .toEqual([
          expect.stringContaining('items:read'),
          'The response has arrived. You can close this page and return to the program.',
        ])
    } finally {
      await browser.close()
    }
  })
})
