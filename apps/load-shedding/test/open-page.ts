import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

/** A page, and what it or its policy complains of. */
interface OpenedPage {
  readonly page: Page
  readonly complaints: readonly string[]
}

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args })
}

/** Opens the page. A request to another origin is a complaint too. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  const page = await browser.newPage(options)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => complaints.push(message.text()))
  page.on('request', (request) => request.url().startsWith(url) || complaints.push(request.url()))
  await page.goto(url)
  await page.getByRole('switch', { name: 'Shedding' }).waitFor()
  return { page, complaints }
}
