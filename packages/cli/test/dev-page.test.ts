import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { describeNeeding } from '@tooling/vitest/needs'
import AxeBuilder from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildCountPanel } from '../src/testing/count-panel.ts'
import { type BuiltDevProgram, buildDevProgram, DevDriver } from '../src/testing/dev-driver.ts'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

describeNeeding('chromium', 'the page of mcpx dev', (executablePath) => {
  let browser: Browser
  let program: BuiltDevProgram
  let folder: string
  let page: URL
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mcpx-dev-page-'))
    // Vite builds for production only if nothing else is set, as in a build of the package.
    vi.stubEnv('NODE_ENV', 'production')
    const configFile = fileURLToPath(new URL('../web/vite.config.ts', import.meta.url))
    const [, built, launched] = await Promise.all([
      build({ configFile, logLevel: 'silent', build: { outDir: folder } }),
      buildDevProgram(),
      chromium.launch({ executablePath, args }),
    ])
    vi.unstubAllEnvs()
    page = pathToFileURL(join(folder, 'index.html'))
    program = built
    browser = launched
  })
  afterAll(async () => {
    await browser?.close()
    await program?.remove()
    await rm(folder, { recursive: true, force: true })
  })

  /** Opens the page. What it or its policy complains of is in `complaints`. */
  const open = async (
    dev: DevDriver,
    context: Pick<BrowserContext, 'newPage'> = browser,
  ): Promise<{ readonly tab: Page; readonly complaints: string[] }> => {
    const tab = await context.newPage()
    const complaints: string[] = []
    tab.on('pageerror', (error) => complaints.push(error.message))
    tab.on('console', (message) => complaints.push(message.text()))
    tab.on('request', (request) => {
      const { port } = dev.dev
      const own = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/sandbox`, 'about:srcdoc']
      if (!own.some((url) => request.url().startsWith(url))) complaints.push(request.url())
      if (request.url().includes(dev.dev.token)) complaints.push('the token is in a request')
    })
    await tab.goto(dev.dev.pageUrl)
    await tab.getByRole('button', { name: /^Call resolve/ }).waitFor()
    return { tab, complaints }
  }

  test('is smaller than 35 kB', async () => {
    expect(gzipSync(await readFile(page)).length).toBeLessThan(35_000)
  })

  describe.each(['http', 'stdio'])('of a server over %s', (transport) => {
    let dev: DevDriver
    beforeAll(async () => {
      dev = await DevDriver.start({ target: `${process.execPath} ${program.path} ${transport}`, page })
      await dev.ready()
    })
    afterAll(() => dev.close())

    test('a question survives a change of the source and a reload, and the new code uses the answer', async () => {
      const { tab, complaints } = await open(dev)
      await tab.getByLabel('Id').fill('17')
      await tab.keyboard.press('Control+Enter')
      const question = tab.getByRole('form', { name: 'How was item 17 resolved?' })
      await question.waitFor()
      const { seq } = dev
      await program.change('"edition 1"', '"edition 2"')
      await dev.ready(seq)
      await tab.reload()
      await question.getByLabel('How').fill('Fixed')
      await tab.keyboard.press('Enter')
      const outcome = tab.locator('[data-outcome=done]')
      await outcome.waitFor()
      expect(await outcome.innerText()).toContain('#17 is Fixed in edition 2')
      await outcome
        .getByText('The handler ran 2 times, each time from its first line, and had recorded no step')
        .waitFor()
      const pids = await tab.locator('.message .instance').allInnerTexts()
      expect([pids.length, new Set(pids).size]).toEqual([4, 2])
      expect(complaints).toEqual([])
      await tab.close()
    })

    test('a fault is armed, moved and taken back by its button, and its explanation is shown above the messages', async () => {
      const { tab, complaints } = await open(dev)
      await tab.getByRole('button', { name: 'pay Pays' }).click()
      await tab.getByLabel('Id').fill('1')
      const sendTwice = tab.getByRole('button', { name: 'send twice' })
      const choose = (choice: string) => tab.getByLabel('Request that is disturbed').selectOption(choice)
      await sendTwice.click()
      await tab.getByText('Armed for the next request of a call').waitFor()
      await choose('answer')
      await sendTwice.click()
      await tab.getByText('Armed for the next answer of a question').waitFor()
      await sendTwice.click()
      await tab.getByText('Armed for').waitFor({ state: 'detached' })
      await choose('request')
      await sendTwice.click()
      await tab.getByText('Armed for the next request of a call').waitFor()
      await tab.getByRole('button', { name: /^Call pay/ }).click()
      await tab.getByText('What the fault has shown').waitFor()
      expect(await tab.locator('.lesson').innerText()).toContain('the same request twice')
      expect(await tab.getByText('the same request again').count()).toBe(1)
      expect(await tab.getByText('the same as the first').count()).toBe(1)
      expect(complaints).toEqual([])
      await tab.close()
    })

    test('an App shows its result and calls a tool, and axe finds nothing', async () => {
      const context = await browser.newContext({ colorScheme: 'dark' })
      const { tab, complaints } = await open(dev, context)
      await tab.getByRole('button', { name: 'weather Shows the weather' }).click()
      await tab.getByLabel('City').fill('Oslo')
      await tab.keyboard.press('Control+Enter')
      const app = tab.frameLocator('iframe').frameLocator('iframe')
      await app.getByText('Sun in Oslo').waitFor()
      await app.getByRole('button', { name: 'Again' }).click()
      await app.getByText('again: Sun in Rome').waitFor()
      expect(complaints).toEqual([])
      const axe = new AxeBuilder({ page: tab }).exclude('iframe')
      const { violations } = await axe.analyze()
      await tab.emulateMedia({ colorScheme: 'light' })
      const light = await axe.withRules('color-contrast').analyze()
      const found = [...violations, ...light.violations]
      expect(found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`)).toEqual([])
      await context.close()
    })

    test('broken source shows what the server wrote, and heals', async () => {
      const { tab } = await open(dev)
      await program.change('"edition 1"', '"edition')
      await tab.getByText('Ended; waits for a change').waitFor()
      expect(await tab.locator('.reason').innerText()).toContain('SyntaxError')
      await tab.getByLabel('Id').fill('17')
      await tab.getByRole('button', { name: /^Call resolve/ }).click()
      await tab.getByText(/The client waits for the server: .*ended with code 1/s).waitFor()
      await program.change('', '')
      await tab.getByText(/Ready over/).waitFor()
      expect(await tab.locator('.reason').count()).toBe(0)
      await tab.close()
    })
  })

  test('a panel shows its data, sends commands and fills a form', async () => {
    const dev = await DevDriver.start({
      target: `${process.execPath} ${program.path} stdio`,
      page,
      panels: [await buildCountPanel(folder)],
    })
    const { tab, complaints } = await open(dev)
    await tab.getByText('Counted to 1').waitFor()
    await tab.getByRole('button', { name: 'Count on' }).click()
    await tab.getByText('Counted to 3').waitFor()
    await tab.getByRole('button', { name: 'Pay this' }).click()
    await tab.getByRole('button', { name: /^Call pay/ }).waitFor()
    expect(await tab.getByLabel('Id').inputValue()).toBe('3')
    dev.dev.log.append({ type: 'login', url: 'https://login.example/', addedScopes: ['items:write'] })
    await tab.getByText('The server requires items:write, which your login lacks.').waitFor()
    await tab.getByRole('link', { name: 'Log in at login.example, and grant it' }).waitFor()
    expect(complaints).toEqual([])
    await dev.close()
    await tab.getByText('Not connected').waitFor()
    await tab.close()
  })

  test('an address without the token says what is missing', async () => {
    const dev = await DevDriver.start({ target: `${process.execPath} ${program.path} stdio`, page })
    const tab = await browser.newPage()
    await tab.goto(`http://127.0.0.1:${dev.dev.port}/`)
    await tab.getByText('The address of this page has no valid token').waitFor()
    await dev.close()
    await tab.close()
  })
})
