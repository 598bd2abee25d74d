import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test, vi } from 'vitest'
import '../examples/with-vitest.ts'

test('the program of the README prints the answer and its rounds', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([
    [[{ type: 'text', text: 'Hello, Ada!' }]],
    [
      [
        { instance: 0, status: 'input_required', questions: { name: 'Who are you?' } },
        { instance: 1, status: 'complete', questions: {} },
      ],
    ],
  ])
})

test('the tests of the guide pass under node:test', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'testing-'))
  const outfile = join(folder, 'example.mjs')
  const source = new URL('../examples/with-node-test.ts', import.meta.url)
  await build({
    entryPoints: [fileURLToPath(source)],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // The recorded states are beside the source.
    define: { 'import.meta.url': JSON.stringify(source.href) },
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` },
  })
  const { VITEST: _vitest, ...env } = process.env
  const parameters = ['--test', '--test-reporter=tap', outfile]
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env: { ...env, CI: 'true' } })
  expect(stdout).toContain('# pass 6\n')
  expect(stdout).toContain('# fail 0\n')
  await rm(folder, { recursive: true, force: true })
})
