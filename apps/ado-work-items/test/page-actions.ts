import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Picks the bug with the keyboard alone. */
export async function pick4522(page: Page): Promise<void> {
  await tabTo(page, 'Show only work items with')
  await page.keyboard.type('4522')
  await page.locator('.item', { hasText: '#4301' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect.poll(() => page.getByLabel('Work item id').inputValue()).toBe('4522')
}

export async function resolve4522(page: Page): Promise<void> {
  await page.locator('.item', { hasText: '#4522' }).click()
  await page.getByLabel('New value of System.State').fill('Resolved')
  await page.keyboard.press('Enter')
}

export async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 40; count++) {
    if ((await focused(page)) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The focus never came to "${name}"`)
}

/** The name of what has the focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`{
    const { ariaLabel, labels, innerText } = document.activeElement
    String(ariaLabel ?? labels?.[0]?.innerText ?? innerText).trim()
  }`)
}

/** The texts that a screen reader adds to a field. */
export function describedBy(page: Page, id: string): Promise<string> {
  return page.evaluate<string>(`
    document.getElementById('${id}').getAttribute('aria-describedby')
      .split(' ').map((one) => document.getElementById(one).innerText).join(' ')`)
}

/** The text of each round of the timeline, except for the parts that vary. */
export async function timeline(page: Page): Promise<readonly (readonly string[])[]> {
  const rounds = await page.locator('[data-round]').allInnerTexts()
  return rounds.map((round) =>
    round
      .split(/\n+/)
      .filter((line) => line !== '' && !/^instance \d$|^\d+ ms$|^\d\.\d s$|^Messages$/.test(line))
      .map((line) => line.replace(/^Asked, with \d+ B of sealed state\.$/, 'state')),
  )
}
