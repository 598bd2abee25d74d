import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describeNeeding } from '@tooling/vitest/needs'
import { serveHttp } from '@x/transport-http/node'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { createRuntimeServer } from '../src/server.ts'
import { allPassed } from './expected.ts'
import { folder } from './start-program.ts'

describeNeeding('chromium', 'Chromium', (executablePath) => {
  test('passes all checks as a client', async () => {
    const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>'))
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    await using http = await serveHttp(createRuntimeServer(), { allowedOrigins: [origin] })
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    try {
      const page = await browser.newPage()
      await page.goto(origin)
      await page.addScriptTag({ content: await bundlePage() })
      expect(await page.evaluate(`runChecks(${JSON.stringify(http.url)})`)).toEqual(allPassed)
    } finally {
      await browser.close()
      site.closeAllConnections()
      site.close()
    }
  })
})

async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['src/programs/page-client.ts'],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
