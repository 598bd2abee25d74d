import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

test('the program of the README runs itself as a server, and ends', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stdio-'))
  const outfile = join(folder, 'quick-start.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('../examples/quick-start.ts', import.meta.url))],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` },
  })
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [outfile])
  expect([stdout.trim(), stderr]).toEqual([`[ { type: 'text', text: 'Hello, Ada!' } ]`, ''])
  await rm(folder, { recursive: true, force: true })
})
