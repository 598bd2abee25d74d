import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { chromium } from 'playwright-core'

// Takes the screenshots of the README from the built application:
// pnpm --filter @apps/load-shedding screenshots [browser]

const folder = import.meta.dirname
const [executablePath = '/usr/bin/chromium'] = process.argv.slice(2)

const main = join(folder, '../dist/main.js')
const child = spawn(process.execPath, ['--conditions=dist', main, '--port', '0', '--mcp-port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const url = await addressIn(child.stdout)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 945 } })
  await page.goto(url)
  const button = (/** @type {string} */ name) => page.getByRole('button', { name, exact: true })
  await button('Overload 1').waitFor()
  await setTimeout(10_000)
  await button('Overload 1').click()
  await button('Burst of heavy calls').click()
  await page.mouse.move(0, 0)
  await setTimeout(3_500)
  await page.screenshot({ path: join(folder, 'overloaded.png') })

  await button('Overload 1').click()
  await page.emulateMedia({ colorScheme: 'dark' })
  await setTimeout(5_000)
  await button('Burst of heavy calls').click()
  await button('Drain and restart 2').click()
  await page.mouse.move(0, 0)
  await setTimeout(900)
  await page.screenshot({ path: join(folder, 'draining.png') })
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/**
 * Reads the address of the page from the output of the application.
 * @param {NodeJS.ReadableStream} output
 */
async function addressIn(output) {
  let printed = ''
  for await (const text of output.iterator({ destroyOnReturn: false })) {
    printed += stripVTControlCharacters(String(text))
    const [, address] = /Control page: (\S+)\s/.exec(printed) ?? []
    if (address !== undefined) {
      output.resume()
      return address
    }
  }
  throw new Error(`the application has ended: ${printed}`)
}
