import { describeNeeding } from '@tooling/vitest/needs'
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servePageWithLogin } from '../src/authorization/serve-page-with-login.ts'
import { serveKill } from '../src/fleet/serve-kill.ts'
import { everyField } from './every-field.ts'
import { describedBy, focused, pick4522, resolve4522, tabTo, timeline } from './page-actions.ts'
import { type BuiltPage, buildPage, servePageWith, serveWorkItems } from './served-page.ts'
import { serveProtected } from './served-protected.ts'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']

describeNeeding('chromium', 'the page', (executablePath) => {
  let browser: Browser
  let built: BuiltPage
  beforeAll(async () => {
    built = await buildPage()
    browser = await chromium.launch({ executablePath, args })
  })
  afterAll(async () => {
    await browser?.close()
    await built?.remove()
  })

  /** Opens the page; what it or its policy complains of is in `complaints`. */
  const openPage = async (url: string, options: BrowserContextOptions = {}) => {
    const page = await browser.newPage(options)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('request', (request) => request.url().startsWith(url) || complaints.push(request.url()))
    await page.goto(url)
    await page.getByRole('button', { name: /^Call / }).waitFor()
    return { page, complaints }
  }

  test('a bug is resolved by keyboard alone, through both questions', async () => {
    await using served = await serveWorkItems(built.root)
    const { page, complaints } = await openPage(served.url)
    await pick4522(page)
    await tabTo(page, 'New value of System.State')
    await page.keyboard.type('Resolved')
    await page.keyboard.press('Enter')

    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'How was this bug resolved?' }).waitFor()
    expect(await focused(page)).toBe('Fixed')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toBe('Duplicate')
    await page.keyboard.press('Enter')

    await dialog.getByRole('heading', { name: 'which work item is the original?' }).waitFor()
    expect(await focused(page)).toBe('Duplicate of id')
    await page.keyboard.type('4301')
    await page.keyboard.press('Enter')

    await page.locator('[data-outcome=done]').waitFor()
    const text = 'Bug #4522 resolved as Duplicate of Bug #4301.'
    expect(await page.locator('[data-outcome=done]').innerText()).toContain(text)
    expect(await page.getByRole('status').innerText()).toContain(text)
    expect(await dialog.count()).toBe(0)
    expect(await focused(page)).toBe('New value of System.State')
    await page.locator('.item', { hasText: '#4522' }).getByText('Resolved').waitFor()
    expect(await timeline(page)).toEqual([
      ['Round 1', 'Resolving Bug #4522 requires a resolution. How was this bug resolved?', 'Duplicate', 'state'],
      ['Round 2', 'Since this is a duplicate, which work item is the original?', '4301', 'state'],
      ['Round 3', 'Returned the result.'],
    ])
    const instances = await page.locator('.instance').allInnerTexts()
    expect(instances.toSorted()).toEqual(['instance 1', 'instance 2', 'instance 3'])
    expect(complaints).toEqual([])
  })

  test('a visitor kills the instance that asked, and another one continues', async () => {
    const killed: number[] = []
    const onRequest = serveKill((instance) => killed.push(instance), servePageWithLogin(built.root))
    await using served = await serveWorkItems(built.root, onRequest)
    const { page, complaints } = await openPage(served.url)
    await pick4522(page)
    await page.getByLabel('New value of System.State').fill('Resolved')
    await page.keyboard.press('Enter')
    const asking = await page.locator('.instance').innerText()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Kill ${asking}` })
      .click()
    await page.getByText('is killed. Answer the question').waitFor()
    expect(killed).toEqual([Number(asking.replace('instance ', ''))])
    // Another site cannot press the button.
    const foreign = await fetch(new URL('instances/1/kill', served.url), { method: 'POST' })
    expect(foreign.status).toBe(403)
    expect([killed.length, complaints]).toEqual([1, []])
  })

  test('the messages of a round are shown as they travelled', async () => {
    await using served = await serveWorkItems(built.root)
    const { page, complaints } = await openPage(served.url)
    await pick4522(page)
    await page.getByLabel('New value of System.State').fill('Resolved')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await expect.poll(() => focused(page)).toBe('Fixed')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.locator('[data-outcome=done]').waitFor()
    const rounds = page.locator('.messages')
    await rounds.nth(0).locator('summary').press('Enter')
    await rounds.nth(1).locator('summary').press('Enter')
    const read = async (round: number) =>
      (await rounds.nth(round).locator('pre').allInnerTexts()).map((text) => JSON.parse(text))
    const [[request, response], [retry, result]] = [await read(0), await read(1)]
    expect(request).toMatchObject({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'update_work_item' } })
    expect(response.result).toMatchObject({ resultType: 'input_required', inputRequests: { resolution: {} } })
    expect(retry.params).toMatchObject({
      inputResponses: { resolution: { action: 'accept' } },
      requestState: response.result.requestState,
    })
    expect(result.result.resultType).toBe('complete')
    expect(complaints).toEqual([])
  })

  test('Esc cancels a question, and nothing is changed', async () => {
    await using served = await serveWorkItems(built.root)
    const { page } = await openPage(served.url)
    await pick4522(page)
    await page.getByLabel('New value of System.State').fill('Resolved')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Bug #4522 was not changed: the user dismissed the question').last().waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await page.locator('.answer').innerText()).toBe('cancelled')
    expect(await page.locator('.item', { hasText: '#4522' }).innerText()).toContain('Active')
  })

  test('an invalid field gets the focus, and its error is shown beside it', async () => {
    await using served = await serveWorkItems(built.root)
    const { page } = await openPage(served.url)
    await page.getByRole('button', { name: /^Call / }).press('Enter')
    const id = page.getByLabel('Work item id')
    await page.getByText('Fill this in.').waitFor()
    await expect.poll(() => focused(page)).toBe('Work item id')
    expect(await id.getAttribute('aria-invalid')).toBe('true')
    expect(await describedBy(page, 'tool-0')).toContain('Fill this in.')
    await page.keyboard.type('4522')
    await expect.poll(() => id.getAttribute('aria-invalid')).toBe('false')
  })

  test('every kind of field is asked for, and its answer is what the server gets', async () => {
    await using served = await servePageWith(everyField, built.root)
    const { page, complaints } = await openPage(served.url, { timezoneId: 'Europe/Berlin' })
    await page.getByRole('button', { name: /^Call / }).press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.press('Enter')
    await expect
      .poll(() => dialog.locator('.issue').allInnerTexts())
      .toEqual(['Fill this in.', 'Fill this in.', 'Choose one of the options.', 'Choose at least 1 of the options.'])
    await dialog.getByLabel('Name').fill('Ada')
    await dialog.getByLabel('E-mail').fill('ada@example.com')
    await dialog.getByLabel('Page').fill('https://example.com/')
    await dialog.getByLabel('Day').fill('2026-07-28')
    await dialog.getByLabel('Moment').fill('2026-07-28T14:30')
    await dialog.getByLabel('Share').fill('0.5')
    await dialog.getByLabel('Hours').fill('')
    await dialog.getByLabel('Public').uncheck()
    await dialog.getByLabel('Red').check()
    await dialog.getByLabel('Month').selectOption('July')
    await dialog.getByLabel('Norway').check()
    await dialog.getByLabel('Sweden').check()
    await dialog.getByRole('button', { name: 'Answer' }).press('Enter')
    await page.locator('[data-outcome=done]').waitFor()
    const [, answer = ''] = (await page.locator('[data-outcome=done] p').innerText()).split('got ')
    expect(JSON.parse(answer)).toEqual({
      name: 'Ada',
      email: 'ada@example.com',
      page: 'https://example.com/',
      day: '2026-07-28',
      moment: '2026-07-28T12:30:00.000Z',
      share: 0.5,
      public: false,
      color: 'red',
      month: 'July',
      countries: ['se', 'no'],
    })
    expect(complaints).toEqual([])
  })

  test('two people log in through the code flow, each in a tab of their own', async () => {
    await using served = await serveProtected(built.root)
    const context = await browser.newContext()
    for (const account of ['ada', 'eve']) {
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('pageerror', (error) => complaints.push(error.message))
      await page.goto(served.url)
      await page.getByRole('heading', { name: 'Who are you?' }).waitFor()
      await page.getByRole('button', { name: account }).click()
      await page.locator('.item', { hasText: '#4522' }).waitFor()
      expect(page.url()).toBe(served.url)
      await resolve4522(page)
      // Its token can only read: a change needs one that can write.
      await page.getByText('work_items:write').waitFor()
      await page.getByRole('button', { name: account }).click()
      // The form is as it was left.
      await expect.poll(() => page.getByLabel('New value of System.State').inputValue()).toBe('Resolved')
      expect(await page.getByLabel('Work item id').inputValue()).toBe('4522')
      await page.getByRole('button', { name: /^Call / }).press('Enter')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('[data-outcome=done]').waitFor()
      expect(await page.locator('[data-outcome=done]').innerText()).toContain(`for ${account}`)
      expect(complaints).toEqual([])
    }
    await context.close()
  })

  test('a login that is declined is explained, and may be begun again', async () => {
    await using served = await serveProtected(built.root)
    const page = await browser.newPage()
    await page.goto(served.url)
    await page.getByRole('button', { name: 'decline' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.innerText()).toContain('access_denied')
    await page.getByRole('link', { name: 'Log in again' }).click()
    await page.getByRole('button', { name: 'ada' }).click()
    await page.locator('.item', { hasText: '#4522' }).waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor()
  })

  test('list, form, rounds and result fit into a window of 1280 × 760, and the list scrolls in itself', async () => {
    await using served = await serveWorkItems(built.root)
    const { page } = await openPage(served.url, { viewport: { width: 1280, height: 760 } })
    const [id = ''] = /#\d+/.exec(await page.locator('.item').first().innerText()) ?? []
    await expect.poll(() => page.getByText('The process requires a resolution').innerText()).toContain(`Bug ${id} `)
    await pick4522(page)
    await page.getByLabel('New value of System.State').fill('Resolved')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Duplicate').check()
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Duplicate of id').fill('4301')
    await page.keyboard.press('Enter')
    await page.locator('[data-outcome=done]').waitFor()
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(760)
    for (const part of ['.columns form', '.runs .run']) {
      const { y = 0, height = 0 } = (await page.locator(part).first().boundingBox()) ?? {}
      expect([part, y >= 0 && y + height <= 760]).toEqual([part, true])
    }
    await page.getByLabel('Show only work items with').fill('')
    expect(
      await page.evaluate(`{
      const list = document.querySelector('.items')
      list.scrollHeight > list.clientHeight && getComputedStyle(list).overflowY === 'auto'
    }`),
    ).toBe(true)
  })

  test('the ids of many work items are chosen from the list', async () => {
    await using served = await serveWorkItems(built.root)
    const { page } = await openPage(served.url)
    await page.getByText('Change many work items').click()
    const ids = page.getByRole('group', { name: 'Ids' })
    await ids.getByLabel('#4540').check()
    await ids.getByLabel('#4401').check()
    await page.getByLabel('Name of field 1').fill('Microsoft.VSTS.Common.Priority')
    await page.getByLabel(/^New value of/).fill('2')
    await page.getByRole('button', { name: /^Call / }).press('Enter')
    await page.locator('[data-outcome=done]').waitFor()
    expect(await page.locator('[data-outcome=done]').innerText()).toContain('#4540')
    expect(await page.getByText('Written as JSON').count()).toBe(0)
  })

  test('a server that is gone is explained', async () => {
    const served = await serveWorkItems(built.root)
    const { page } = await openPage(served.url)
    await served[Symbol.asyncDispose]()
    await page.getByRole('button', { name: 'Refresh' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    expect(await alert.innerText()).toContain('The server cannot be reached. Is it still running?')
  })

  test.each([
    ['wide', 1440],
    ['narrow', 360],
  ])('nothing runs over the edge of a %s window', async (_, width) => {
    await using served = await serveWorkItems(built.root)
    const { page } = await openPage(served.url, { viewport: { width, height: 800 } })
    await pick4522(page)
    await page.getByLabel('New value of System.State').fill('Resolved')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })
})
