import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { openBrowser } from './open-browser.ts'

test.skipIf(process.platform !== 'linux')(
  'An address is one argument of a program, whatever stands in it (CVE-2025-6514) [AUE-028]',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'open-browser-'))
    const [program, written] = [join(folder, 'xdg-open'), join(folder, 'args')]
    await writeFile(
      program,
      `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${written}.new'; mv '${written}.new' '${written}'\n`,
    )
    await chmod(program, 0o755)
    const { PATH } = process.env
    process.env['PATH'] = `${folder}:${PATH}`
    try {
      const address = `https://auth.example.com/a?b=$(touch%20${folder}/x)&c=\`id\`;d|e`
      await openBrowser(new URL(address))
      const text = await vi.waitFor(() => readFile(written, 'utf8'), { timeout: 10_000 })
      expect(text).toBe(`1\n${new URL(address).href}\n`)
    } finally {
      process.env['PATH'] = PATH
      await rm(folder, { recursive: true, force: true })
    }
  },
)

test.each(['javascript:alert(1)', 'file:///etc/passwd', 'http://example.com/', 'data:text/html,x', 'vscode://x'])(
  '%s is not opened [AUE-028]',
  async (address) => {
    await expect(openBrowser(new URL(address))).rejects.toThrow(TypeError)
  },
)

test('A machine without a browser is an error, and no crash', async () => {
  const { PATH } = process.env
  process.env['PATH'] = '/nowhere'
  try {
    await expect(openBrowser(new URL('https://example.com/'))).rejects.toThrow('ENOENT')
  } finally {
    process.env['PATH'] = PATH
  }
})
