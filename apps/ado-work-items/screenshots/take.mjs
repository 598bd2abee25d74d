import { join } from 'node:path'
import { chromium } from 'playwright-core'

// Takes the picture of the README from the application that runs: node screenshots/take.mjs <address of the page> [browser]

const [url = '', executablePath = '/usr/bin/chromium'] = process.argv.slice(2)

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1310 } })
  await page.goto(url)
  await page.locator('.work-items li', { hasText: '#4522' }).getByRole('button', { name: 'Resolve' }).click()
  await page.getByRole('button', { name: /^Call update_work_item/ }).click()
  await page.getByLabel('Duplicate').check()
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByRole('form', { name: 'which work item is the original?' }).waitFor()
  await page.screenshot({ path: join(import.meta.dirname, 'question.png') })
} finally {
  await browser.close()
}
