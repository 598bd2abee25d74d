import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import AxeBuilder from '@axe-core/playwright'
import { describeNeeding, sizeOf } from '@tooling/vitest/needs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import sirv from 'sirv'
import { afterAll, beforeAll, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../dist-web', import.meta.url))
const minutes = 60_000
// Those of a layout of their own first: for each change they are enough.
const pages = ['/', '/guides/gateway', '/reference/server/log', '/docs', '/limits', '/packages/server']
const wide: BrowserContextOptions = { viewport: { width: 1280, height: 900 }, colorScheme: 'light' }
const narrow: BrowserContextOptions = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }
const screens = [
  ['wide and light', wide, pages.slice(0, sizeOf({ change: 3, night: pages.length }))],
  ['narrow and dark', narrow, pages.slice(0, sizeOf({ change: 2, night: 3 }))],
] as const

let http: Server
let url = ''
beforeAll(async () => {
  if (!existsSync(`${folder}/index.html`)) throw new Error('There is no site: run "pnpm run docs" first')
  http = createServer(sirv(folder))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => http.close(resolve)))

test('every link within the site leads to a page, and to a heading of it', async () => {
  const files = new Set(await readdir(folder, { recursive: true }))
  const idsOf = new Map<string, ReadonlySet<string>>()
  const links: { readonly page: string; readonly link: string }[] = []
  for (const page of [...files].filter((file) => file.endsWith('.html'))) {
    const html = await readFile(`${folder}/${page}`, 'utf8')
    idsOf.set(page, new Set(valuesOf('id', html)))
    links.push(...[...valuesOf('href', html), ...valuesOf('src', html)].map((link) => ({ page, link })))
  }
  const broken = links.filter(({ page, link }) => {
    const { origin, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `${url}/${page}`)
    if (origin !== url) return false
    const path = decodeURIComponent(pathname.slice(1))
    const target = [path, `${path}.html`, `${path}index.html`].find((file) => files.has(file))
    const ids = idsOf.get(target ?? '')
    return target === undefined || (hash !== '' && ids?.has(decodeURIComponent(hash.slice(1))) !== true)
  })
  expect(broken.map(({ page, link }) => `${page} links to ${link}`)).toEqual([])
  expect(links.length).toBeGreaterThan(5000)
})

function valuesOf(name: string, html: string): readonly string[] {
  return [...html.matchAll(new RegExp(`<[a-z][^>]* ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value)
}

test('llms.txt lists pages that are there as Markdown, and llms-full.txt has their text', async () => {
  const index = await (await fetch(`${url}/llms.txt`)).text()
  expect(index).toMatch(/^# x\n\n> /)
  const linked = [...index.matchAll(/\]\((\/[^)]+)\)/g)].map(([, target = '']) => target)
  expect(linked.length).toBeGreaterThan(40)
  for (const target of linked) {
    const file = await readFile(folder + target, 'utf8')
    expect(file.length, target).toBeGreaterThan(200)
  }
  const all = await readFile(`${folder}/llms-full.txt`, 'utf8')
  expect(all).toContain('# Your handler runs more than once')
  expect(all).not.toMatch(/^ *<!-- file:/m)
})

describeNeeding('chromium', 'in a browser', (executablePath) => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  })
  afterAll(() => browser?.close())

  const open = async (path: string, options: BrowserContextOptions): Promise<Page> => {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    await page.goto(url + path)
    await page.locator('h1').first().waitFor({ state: 'attached' })
    return page
  }

  test.each(screens.flatMap(([name, options, paths]) => paths.map((path) => [name, path, options] as const)))(
    'on a screen that is %s, %s has no serious fault of accessibility and does not scroll sideways',
    async (_, path, options) => {
      const page = await open(path, options)
      const { violations } = await new AxeBuilder({ page }).analyze()
      const serious = violations.filter(({ impact }) => path === '/' || impact === 'serious' || impact === 'critical')
      expect(serious.map(({ id, nodes }) => [id, nodes.length, nodes[0]?.html])).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      await page.context().close()
    },
    3 * minutes,
  )

  test.each([
    ['a guide by its words', 'load shedding', '/guides/shedding'],
    ['an export by its name', 'terminalHandlers', '/reference/cli/terminal#terminalhandlers'],
  ])('the search finds %s', async (_, words, expected) => {
    const page = await open('/', wide)
    await page.keyboard.press('Control+k')
    await page.locator('.VPLocalSearchBox input').fill(words)
    await page.locator('.VPLocalSearchBox .result').first().waitFor()
    const results = await page.locator('.VPLocalSearchBox .result').all()
    const targets = await Promise.all(results.map((result) => result.getAttribute('href')))
    expect(targets.join(' ')).toContain(expected)
    await page.context().close()
  })

  test('the home is complete without a script, and its first screen has the program and its result', async () => {
    const page = await open('/', { ...wide, viewport: { width: 1280, height: 800 }, javaScriptEnabled: false })
    for (const shown of ['const http = await serveHttp', 'What would you like to eat?', 'SIGKILL', ': 2 x ramen']) {
      const box = await page.getByText(shown).last().boundingBox()
      expect((box?.y ?? Infinity) + (box?.height ?? 0), shown).toBeLessThanOrEqual(800)
    }
    await page.context().close()
  })
})
