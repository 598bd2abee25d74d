import { fileURLToPath } from 'node:url'
import { describeNeeding } from '@tooling/vitest/needs'
import { serveHttp } from '@x/transport-http/node'
import { chromium } from 'playwright-core'
import { build, type InlineConfig } from 'vite'
import { expect, test } from 'vitest'
import { createWorkItemsServer } from '../src/server/create-work-items-server.ts'
import { emulated } from '../src/testing/emulated.ts'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

describeNeeding('chromium', 'the page of a work item, in the frame of a host', (executablePath) => {
  test('shows the work item, and changes it with a question to the user in between', async () => {
    const configFile = fileURLToPath(new URL('../web/work-item/vite.config.ts', import.meta.url))
    await build({ configFile, logLevel: 'silent' })
    await using service = await emulated()
    const script = await bundle(new URL('./app-host.ts', import.meta.url))
    const http = await serveHttp(createWorkItemsServer(service.azureDevOps), {
      onRequest: ({ url }, response) => {
        if (url !== '/' && url !== '/host.js') return false
        response.writeHead(200, { 'Content-Type': url === '/' ? 'text/html' : 'text/javascript' })
        response.end(url === '/' ? '<!doctype html><body><script type="module" src="/host.js"></script>' : script)
        return true
      },
    })
    const browser = await chromium.launch({ executablePath, args })
    const page = await browser.newPage({ viewport: { width: 1000, height: 760 } })
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void dialog.accept('Fixed')
    })
    await page.goto(`http://127.0.0.1:${http.port}/`)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: 'Bug #4522' }).waitFor()
    expect(await frame.getByLabel('State').inputValue()).toBe('Active')
    await frame.getByLabel('State').fill('Resolved')
    await frame.getByRole('button', { name: 'Save' }).click()
    await frame.getByText('ResolvedReason is Fixed').waitFor()
    expect(await frame.getByLabel('State').inputValue()).toBe('Resolved')
    expect(asked).toEqual(['Resolving Bug #4522 requires a resolution. How was this bug resolved?'])
    expect(complaints).toEqual([])
    await browser.close()
    await http.close()
  })
})

/** Bundles a module for a browser, and returns its text. */
async function bundle(entry: URL): Promise<string> {
  const lib = { entry: fileURLToPath(entry), formats: ['es' as const] }
  const config: InlineConfig = { configFile: false, logLevel: 'silent', build: { write: false, lib, target: 'es2022' } }
  const [output] = [await build(config)].flat()
  if (output === undefined || !('output' in output)) throw new Error('The bundle has no output')
  return output.output[0].code
}
