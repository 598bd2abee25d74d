import { describeNeeding } from '@tooling/vitest/needs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emulated } from '../src/testing/emulated.ts'
import { checkBuilt, endStarted, start } from '../src/testing/start-app.ts'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

describeNeeding('chromium', 'the page of the running app', (executablePath) => {
  let browser: Browser
  beforeAll(async () => {
    checkBuilt()
    browser = await chromium.launch({ executablePath, args })
  })
  afterAll(async () => {
    await browser?.close()
    endStarted()
  })

  test('a call continues at another instance after the one that asked is killed, in both revisions', async () => {
    await using service = await emulated()
    const app = start(['--port', '0'], service.environment)
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(await app.page)

    expect(new Set(await resolveWithKill(page, 4522)).size).toBe(2)
    await page.getByLabel('as').selectOption('2025-11-25')
    await page.getByText(/Ready over http/).waitFor()
    expect(new Set(await resolveWithKill(page, 4517)).size).toBe(2)
    expect(await page.locator('.message', { hasText: 'elicitation/create' }).count()).toBe(1)

    expect(complaints).toEqual([])
    await page.close()
    app.child.kill('SIGINT')
    expect((await app.ended).code).toBe(0)
  })
})

/** Resolves a bug, and kills the process that asked. Returns the processes of the messages that were received. */
async function resolveWithKill(page: Page, id: number): Promise<readonly string[]> {
  // A form can be filled when the tools are listed.
  await page.getByRole('button', { name: /^Call \w+_/ }).waitFor()
  await page
    .locator('.work-items li', { hasText: `#${id}` })
    .getByRole('button', { name: 'Resolve' })
    .click()
  await page.getByRole('button', { name: /^Call update_work_item/ }).click()
  const question = page.getByRole('form', { name: `Resolving Bug #${id} requires a resolution.` })
  await question.getByLabel('Fixed').check()
  await page.getByRole('button', { name: 'Kill', exact: true }).click()
  await page.getByText('mcpx dev killed the process').last().waitFor()
  await question.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.locator('[data-outcome=done]', { hasText: `Bug #${id} was changed` }).waitFor()
  return page.locator('.message', { hasText: '←' }).locator('.instance').allInnerTexts()
}
