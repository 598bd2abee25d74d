import { fileURLToPath } from 'node:url'
import { describeNeeding } from '@tooling/vitest/needs'
import { serveDev } from '@x/cli/dev'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CallView, Point } from '../src/board/snapshot.ts'
import { fleetPanel } from '../src/control/fleet-panel.ts'
import { createFakeStage } from '../src/testing/fake-stage.ts'

const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync']
/** No server listens here: the panel is independent of the calls of the page. */
const target = 'http://127.0.0.1:1/mcp'

const call = (name: string, changes: Partial<CallView>): CallView => ({
  call: name,
  size: 'heavy',
  instance: 1,
  origin: 1,
  progress: 0.5,
  moves: 0,
  state: 'open',
  ...changes,
})

describeNeeding('chromium', 'the panel of the page', (executablePath) => {
  let browser: Browser
  beforeAll(async () => {
    const configFile = fileURLToPath(new URL('../web/vite.config.ts', import.meta.url))
    await build({ configFile, logLevel: 'silent' })
    browser = await chromium.launch({ executablePath, args })
  })
  afterAll(async () => {
    await browser?.close()
  })

  /** Opens the page. `problems` has its errors, its console messages and its requests to other origins. */
  const openFakeStage = async (options: BrowserContextOptions = {}) => {
    const stage = createFakeStage()
    const dev = await serveDev({ target, panels: [fleetPanel(stage)], port: 0, hosts: false })
    const page = await browser.newPage(options)
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => problems.push(message.text()))
    const { origin } = new URL(dev.pageUrl)
    page.on('request', (request) => request.url().startsWith(origin) || problems.push(request.url()))
    await page.goto(dev.pageUrl)
    await page.getByRole('switch', { name: 'Shedding' }).waitFor()
    const close = async (): Promise<void> => {
      await page.close()
      await dev.close()
    }
    return { stage, page, problems, stop: dev.close, [Symbol.asyncDispose]: close }
  }

  test('every command works with the keyboard, and is announced to screen readers', async () => {
    await using fixture = await openFakeStage()
    const { page, stage, problems } = fixture
    const announcement = () => page.locator('[data-announcement]').innerText()
    await tabTo(page, 'Shedding')
    await page.keyboard.press('Space')
    await expect.poll(announcement).toBe('Shedding is off')
    await tabTo(page, 'Steady')
    await page.keyboard.press('ArrowRight')
    await expect.poll(announcement).toBe('Load: Heavy')
    for (const [name, text] of [
      ['Burst of heavy calls', 'A burst of heavy calls was sent'],
      ['Restart all in turn', 'Every instance is restarted in turn'],
      ['Overload 1', 'Instance 1 is overloaded'],
      ['Drain and restart 1', 'Instance 1 is restarted'],
      ['Kill 2', 'Instance 2 is killed'],
    ] as const) {
      await tabTo(page, name)
      await page.keyboard.press('Enter')
      await expect.poll(announcement).toBe(text)
    }
    const expected = [
      'shedding false',
      'level heavy',
      'burst 4',
      'restartAll',
      'overload 1 true',
      'restart 1',
      'kill 2',
    ]
    expect(stage.commands).toEqual(expected)
    expect(problems).toEqual([])
  })

  test('a call is a block in the lane of its instance, and changes lanes after a hand-off', async () => {
    await using fixture = await openFakeStage({ reducedMotion: 'reduce' })
    const { page, stage } = fixture
    const block = page.locator('[data-call=a]')
    const isInLane = (instance: number) => overlaps(page, '[data-call=a]', `[data-track="${instance}"]`)
    stage.update({ calls: [call('a', {}), call('b', { size: 'light' })] })
    await expect.poll(() => isInLane(1)).toBe(true)
    stage.update({ calls: [call('a', { instance: 0, moves: 1 })] })
    await expect.poll(() => isInLane(0)).toBe(true)
    stage.update({ calls: [call('a', { instance: 2, moves: 1 })] })
    await expect.poll(() => isInLane(2)).toBe(true)
    expect(await block.innerText()).toBe('1')
    stage.update({ calls: [call('a', { instance: 2, state: 'lost' })] })
    await expect.poll(() => block.innerText()).toBe('×')
    stage.update({ calls: [] })
    await expect.poll(() => block.count()).toBe(0)
  })

  test('totals and states are shown as text, and problems are highlighted', async () => {
    await using fixture = await openFakeStage()
    const { page, stage, problems } = fixture
    const points: Point[] = [1, 2, 3].map((at) => ({
      at,
      perSecond: at,
      movesPerSecond: 0,
      p50Ms: 120,
      p99Ms: 2300,
      delays: [at, null],
    }))
    const [first, second] = stage.snapshot().lanes
    if (first === undefined || second === undefined) throw new Error('there are two instances')
    stage.update({
      points,
      totals: { completed: 41, lost: 3, wrong: 0, moved: 17, chunks: 90, repeated: 12 },
      recent: { perSecond: 2.04, p50Ms: 120, p99Ms: 2300 },
      lanes: [
        { ...first, isOverloaded: true, isReady: false, eventLoopDelayMs: 181.4, moved: 17 },
        { ...second, status: 'draining' },
      ],
    })
    await page.getByText('draining').waitFor()
    const sums = (await page.locator('.sum').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    expect(sums).toEqual([
      'calls completed 41',
      'hand-offs 17',
      'calls lost 3',
      'chunks of work repeated 12',
      'calls per second, last 10 s 2.0',
      'p50 latency, last 10 s 120 ms',
      'p99 latency, last 10 s 2.3 s',
    ])
    expect(await page.locator('.sum.bad').count()).toBe(2)
    expect(await page.locator('[data-lane="1"] .lane-head').innerText()).toMatch(
      /overloaded\s+not ready\s+0 calls · 181 ms delay · 17 handed off/,
    )
    expect(await page.getByRole('button', { name: 'Overload 1' }).getAttribute('aria-pressed')).toBe('true')
    expect(await page.getByRole('button', { name: 'Kill 2' }).getAttribute('aria-disabled')).toBe('true')
    await page.getByRole('button', { name: 'Kill 2' }).press('Enter')
    const legends = await page.locator('.chart li').allInnerTexts()
    expect(legends.map((text) => text.trim())).toEqual([
      'calls completed 3.0',
      'hand-offs 0.0',
      'p50 120 ms',
      'p99 2.3 s',
      'instance 1 3 ms',
      'instance 2 –',
    ])
    expect(await page.locator('.chart canvas').count()).toBe(3)
    expect(stage.commands).toEqual([])
    expect(problems).toEqual([])
  })

  test('a command that fails is announced', async () => {
    await using fixture = await openFakeStage()
    const { page, stop } = fixture
    await stop()
    await page.getByRole('button', { name: 'Kill 1' }).click()
    await expect.poll(() => page.locator('[data-announcement]').innerText()).toContain('The command failed')
  })

  test.each([
    ['wide', 1440, 'light'],
    ['narrow', 340, 'dark'],
  ] as const)('the page fits a %s window without horizontal scrolling', async (_, width, colorScheme) => {
    await using fixture = await openFakeStage({ viewport: { width, height: 800 }, colorScheme })
    const { page, stage } = fixture
    const calls = Array.from({ length: 60 }, (__, index) => call(`call-${index}`, { instance: index % 3 }))
    stage.update({ calls })
    await page.locator('.block').first().waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })
})

async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < 40; count++) {
    if ((await focused(page)) === name) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`"${name}" did not receive the focus`)
}

/** Returns the accessible name of the focused element. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`{
    const { ariaLabel, labels, innerText } = document.activeElement
    String(ariaLabel ?? labels?.[0]?.innerText ?? innerText).trim()
  }`)
}

/** Returns true if one element lies within another, with a tolerance of one pixel. */
async function overlaps(page: Page, inner: string, outer: string): Promise<boolean> {
  const [a, b] = await Promise.all([page.locator(inner).boundingBox(), page.locator(outer).boundingBox()])
  if (a === null || b === null) return false
  return a.y >= b.y - 1 && a.y + a.height <= b.y + b.height + 1 && a.x >= b.x - 1
}
