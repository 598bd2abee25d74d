import { describeNeeding } from '@tooling/vitest/needs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveControl } from '../src/control/serve-control.ts'
import { openStage, type Stage } from '../src/trial/open-stage.ts'
import { type BuiltPage, buildPage } from './build-page.ts'
import { launchBrowser, openPage } from './open-page.ts'

describeNeeding('chromium', 'the page', (executablePath) => {
  let browser: Browser
  let built: BuiltPage
  beforeAll(async () => {
    built = await buildPage()
    browser = await launchBrowser(executablePath)
  })
  afterAll(async () => {
    await browser?.close()
    await built?.remove()
  })

  test('with a real fleet, an overloaded instance hands calls off', async () => {
    const stage = await openStage({ balancer: 'cluster', sheds: true, size: 3, port: 0, onFailure: () => {} })
    const control = await serveControl(stage, 0, built.root)
    try {
      const { page, problems } = await openPage(browser, control.url)
      await page.getByRole('button', { name: 'Overload 1' }).click()
      await page.locator('[data-lane="1"]').getByText('overloaded').waitFor()
      await page.getByRole('button', { name: 'Burst of heavy calls' }).click()
      const handedOff = page.locator('[data-lane="1"] .lane-head').getByText(/[1-9]\d* handed off/)
      await handedOff.waitFor()
      await page
        .locator('.block', { hasText: /^[1-9]$/ })
        .first()
        .waitFor()
      await expect.poll(() => traceAnotherCall(stage), { interval: 1500 }).toBeGreaterThanOrEqual(3)
      await page.getByRole('link', { name: 'Trace and metrics' }).click()
      await page.locator('[data-trace] [data-process="0"]', { hasText: /^client\s*call count_primes/ }).waitFor()
      const instances = page.locator('[data-trace] [data-process]:not([data-process="0"]) td:first-child')
      expect(new Set(await instances.allInnerTexts()).size).toBeGreaterThanOrEqual(2)
      await page.locator('[data-metrics]', { hasText: 'mcp.server.operation.duration' }).waitFor()
      expect(problems).toEqual([])
      await page.close()
    } finally {
      await control[Symbol.asyncDispose]()
      await stage.stop()
    }
  })
})

/** Sends one more call, and returns the number of processes in the shown trace. */
function traceAnotherCall(stage: Stage): number {
  stage.load.burst(1)
  return new Set(stage.telemetry().spans.map(({ process }) => process)).size
}
