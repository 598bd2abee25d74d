import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageHandler } from '@apps/front/serve-page'
import { describeNeeding } from '@tooling/vitest/needs'
import { type Browser, chromium } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltPage, buildPage, serveWorkItems } from './served-page.ts'

/**
 * Serves the files of the host. The page of this program has a policy that the frame of the host would inherit, and that
 * allows no script in it.
 */
function serveFiles(root: string): PageHandler {
  return (request, response) => {
    const file = new URL(request.url ?? '', 'http://host').pathname
    const path = join(root, file === '/' ? 'index.html' : file)
    if (file === '/mcp' || !existsSync(path)) return false
    response.writeHead(200, { 'Content-Type': path.endsWith('.js') ? 'text/javascript' : 'text/html' })
    response.end(readFileSync(path))
    return true
  }
}

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

describeNeeding(
  'chromium',
  'the page of a work item, in the frame of a host with the official packages',
  (executablePath) => {
    let browser: Browser
    let host: BuiltPage
    beforeAll(async () => {
      const configFile = fileURLToPath(new URL('../web/work-item/vite.config.ts', import.meta.url))
      await build({ configFile, logLevel: 'silent' })
      host = await buildPage('../web/testing/app-host/vite.config.ts')
      browser = await chromium.launch({ executablePath, args })
    })
    afterAll(async () => {
      await browser?.close()
      await host?.remove()
    })

    test('shows the work item, and changes it with a question to the user in between', async () => {
      await using served = await serveWorkItems(host.root, serveFiles(host.root))
      const page = await browser.newPage({ viewport: { width: 1000, height: 760 } })
      const complaints: string[] = []
      page.on('pageerror', (error) => complaints.push(error.message))
      // The official packages log each message of the frame.
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      await page.goto(`${served.url}?id=4522`)
      const frame = page.frameLocator('iframe')
      await frame.getByRole('heading', { name: 'Bug #4522' }).waitFor()
      expect(await frame.getByLabel('State').inputValue()).toBe('Active')

      await frame.getByLabel('State').fill('Resolved')
      await frame.getByRole('button', { name: 'Save' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('How was this bug resolved?').waitFor()
      await dialog.getByLabel('Answer').fill('Fixed')
      await dialog.getByRole('button', { name: 'Send' }).click()

      await frame.getByText('ResolvedReason is Fixed').waitFor()
      expect(await frame.getByLabel('State').inputValue()).toBe('Resolved')
      expect(complaints).toEqual([])
      const folder = fileURLToPath(new URL('../.results', import.meta.url))
      mkdirSync(folder, { recursive: true })
      await page.screenshot({ path: `${folder}/work-item-page.png` })
    })
  },
)
