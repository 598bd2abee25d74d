import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectHttp } from '../src/client.ts'

const requireForBundles = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'http-'))
  await build({
    entryPoints: [fileURLToPath(new URL('./programs/open-handle.ts', import.meta.url))],
    bundle: true,
    outfile: join(folder, 'open-handle.mjs'),
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: requireForBundles },
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends a process whose extension holds a handle, with nothing but stopOnSignals',
  async (signal) => {
    const child = spawn(process.execPath, [join(folder, 'open-handle.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      let printed = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text
      })
      await once(child.stdout, 'data')
      {
        await using connection = connectHttp(printed.trim())
        const client = createClient(connection, { name: 'host', version: '1.0.0' })
        expect((await client.discover()).supportedVersions).toContain('2026-07-28')
        child.kill(signal)
      }
      // An exit by the signal itself would have no code.
      expect(await once(child, 'exit')).toEqual([0, null])
      expect(printed).toMatch(/\nclosed\n$/)
    } finally {
      child.kill('SIGKILL')
    }
  },
)
