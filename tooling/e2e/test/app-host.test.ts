import { describeNeeding } from '@tooling/vitest/needs'
import { sandboxPage } from '@x/apps/host'
import { gateway } from '@x/gateway'
import { connectHttp } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import type { Browser, FrameLocator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keys, stateWith } from './asking.ts'
import { bundleScript, launchBrowser, serveSite, type Site } from './browser/site.ts'
import { createWeatherServer } from './browser/weather-server.ts'
import { createWebHost, type RunningHost } from './host-program.ts'

describeNeeding('chromium', 'the page of a tool in a host, with the official class App', (executablePath) => {
  let browser: Browser
  let sandbox: Site
  let host: Site
  let http: HttpServer
  let gatewayHttp: HttpServer
  beforeAll(async () => {
    sandbox = await serveSite({ '/': sandboxPage })
    const policy = `default-src 'none'; script-src 'self'; connect-src *; frame-src ${sandbox.origin}`
    host = await serveSite(
      {
        '/': '<!doctype html><title>Host</title><body><script src="/host.js"></script>',
        '/host.js': await bundleScript(new URL('./browser/app-host.ts', import.meta.url)),
      },
      { 'Content-Security-Policy': policy },
    )
    http = await serveHttp(await createWeatherServer(), { allowedOrigins: [host.origin] })
    const crm = { connect: () => connectHttp(http.url) }
    const hop = gateway({ name: 'gateway', version: '1.0.0', upstreams: { crm }, state: stateWith(keys.first) })
    gatewayHttp = await serveHttp(hop, { allowedOrigins: [host.origin] })
    browser = await launchBrowser(executablePath)
  })
  afterAll(async () => {
    await browser?.close()
    await gatewayHttp?.close()
    await http?.close()
    host?.close()
    sandbox?.close()
  })

  const openHost = async (): Promise<Page> => {
    const page = await browser.newPage()
    await page.goto(host.origin)
    await page.evaluate(`showWeather(${JSON.stringify(http.url)}, ${JSON.stringify(sandbox.origin)})`)
    return page
  }
  /** The frame of the page is within that of the sandbox. */
  const appIn = (page: Page): FrameLocator => page.frameLocator('iframe').frameLocator('iframe')

  test('shows the call, calls tools and opens links through the host, and reaches neither the network nor the host [APP-009 APP-012 APP-014 APP-025]', async () => {
    const page = await openHost()
    const app = appIn(page)
    await app.getByText('21 °C').waitFor()
    expect(await app.locator('#city').textContent()).toBe('Oslo')
    await app.locator('#refresh').click()
    await app.getByText('22 °C').waitFor()
    await app.locator('#link').click()
    await expect.poll(() => page.evaluate('links')).toEqual(['https://example.com/oslo'])
    // The page is as high as its content, and its container as the host wants it.
    await expect.poll(async () => (await page.locator('iframe').boundingBox())?.height).not.toBe(150)
    await app.locator('#escape').click()
    await app.getByText('fetch: blocked, storage: blocked, parent: blocked').waitFor()
    await page.evaluate('closeWeather()')
    expect(await page.locator('iframe').count()).toBe(0)
    await page.close()
  })

  test('is removed if it leaves its document', async () => {
    const page = await openHost()
    await appIn(page).locator('#leave').click()
    await expect.poll(() => page.frames().length).toBe(2)
    await page.close()
  })

  test('behind a gateway, is directly in the frame of a host that has no policy', async () => {
    const page = await browser.newPage({ bypassCSP: true })
    await page.goto(host.origin)
    await page.evaluate(`showWeather(${JSON.stringify(gatewayHttp.url)})`)
    const app = page.frameLocator('iframe')
    await app.getByText('21 °C').waitFor()
    await app.locator('#refresh').click()
    await app.getByText('22 °C').waitFor()
    await app.locator('#escape').click()
    await app.getByText('storage: blocked, parent: blocked').waitFor()
    await app.locator('#leave').click()
    await page.evaluate('whenClosed()')
    expect(await page.locator('iframe').count()).toBe(0)
    await page.close()
  })

  test('is in the web page of the guide, whose questions survive a restart of the host', async () => {
    await using webHost = await createWebHost({ weather: { url: http.url } })
    const page = await browser.newPage()
    const open = async (): Promise<RunningHost> => {
      const started = webHost.start()
      await page.goto(await started.waitFor(/Open (\S+)/))
      return started
    }
    const call = async (name: string, args = '{}'): Promise<void> => {
      await page.getByLabel('Tool').selectOption(name)
      await page.getByLabel('Arguments').fill(args)
      await page.getByRole('button', { name: 'Call', exact: true }).click()
    }
    using first = await open()
    await call('notes__add')
    await page.getByText('notes__add asks: What should the note say?').waitFor()
    first.child.kill('SIGTERM')
    expect(await first.ended).toEqual([0, null])

    using second = await open()
    await page.getByLabel('Text').fill('milk')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByText(/Noted by \d+: milk/).waitFor()
    await call('weather__weather', '{"city":"Oslo"}')
    const app = appIn(page)
    await app.getByText('21 °C').waitFor()
    await app.locator('#refresh').click()
    await app.getByText('22 °C').waitFor()
    await page.close()
    second.child.kill('SIGTERM')
    expect(await second.ended).toEqual([0, null])
    await webHost.expectNoProcess()
  })
})
