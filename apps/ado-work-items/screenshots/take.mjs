import { join } from 'node:path'
import { chromium } from 'playwright-core'

// Takes the picture of the README from the application that runs: node screenshots/take.mjs <url> [browser]

const [url = 'http://127.0.0.1:4522/', executablePath = '/usr/bin/chromium'] = process.argv.slice(2)

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1240, height: 800 } })
  await page.goto(url)
  await page.getByText('#4522', { exact: true }).click()
  await page.getByLabel('New value of System.State').fill('Resolved')
  await page.getByRole('button', { name: /^Call / }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Duplicate').click()
  await page.keyboard.press('Enter')
  await dialog.getByRole('heading', { name: 'which work item is the original?' }).waitFor()
  await page.screenshot({ path: join(import.meta.dirname, 'question.png') })
} finally {
  await browser.close()
}
