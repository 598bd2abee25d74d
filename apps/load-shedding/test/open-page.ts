import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

/** An opened page. `problems` has its errors, its console messages and its requests to other origins. */
interface OpenedPage {
  readonly page: Page
  readonly problems: readonly string[]
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}

/** Opens the page, and records its problems. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const page = await browser.newPage(options)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => problems.push(message.text()))
  page.on('request', (request) => request.url().startsWith(url) || problems.push(request.url()))
  await page.goto(url)
  await page.getByRole('switch', { name: 'Shedding' }).waitFor()
  return { page, problems }
}
