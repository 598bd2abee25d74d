import { describeNeeding } from '@tooling/vitest/needs'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBuilt, endStarted, start } from '../src/testing/start-app.ts'
import { resolve4522 } from './page-actions.ts'

const title = 'Messages (2025-11-25, SEP-1685 state)'

describeNeeding('chromium', 'the page of the running app with a client of 2025-11-25', (executablePath) => {
  let browser: Browser
  beforeAll(async () => {
    checkBuilt()
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  })
  afterAll(async () => {
    await browser?.close()
    endStarted()
  })

  test('shows the state of the question and of the answer, although the instance that asked is killed', {
    timeout: 120_000,
  }, async () => {
    const app = start(['--port', '0'])
    const page = await browser.newPage()
    await page.goto(new URL('/', await app.url).href)
    await page.locator('.item', { hasText: '#4522' }).waitFor()
    await page.getByLabel('Revision').selectOption('2025-11-25')
    await resolve4522(page)
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const asking = await page.locator('.instance').innerText()
    await dialog.getByRole('button', { name: `Kill ${asking}` }).click()
    await page.getByText('is killed. Answer the question').waitFor()
    await dialog.getByLabel('Fixed').check()
    await dialog.getByRole('button', { name: 'Answer' }).click()
    await page.locator('[data-outcome=done]').waitFor()

    const instances = await page.locator('.instance').allInnerTexts()
    expect(instances).toHaveLength(2)
    expect(instances[1]).not.toBe(asking)
    const rounds = page.locator('.messages')
    expect(await rounds.locator('summary').allInnerTexts()).toEqual([title, title])
    for (const round of await rounds.locator('summary').all()) await round.click()
    const read = async (label: string) =>
      JSON.parse(await rounds.locator('div', { hasText: label }).first().locator('pre').innerText())
    const initialize = await read('Client: initialize')
    expect(initialize.params.capabilities.experimental).toEqual({ requestState: {} })
    const question = await read(': elicitation/create, with state')
    const answer = await read('Client: response, with state')
    expect(question).toMatchObject({ method: 'elicitation/create', state: expect.any(String) })
    expect(answer).toMatchObject({ id: question.id, state: question.state, result: { action: 'accept' } })
    await page.close()
    app.child.kill('SIGINT')
    expect((await app.ended).code).toBe(0)
  })
})
