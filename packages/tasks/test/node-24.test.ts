import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { node24 } from '@tooling/node-versions'
import { expect, test } from 'vitest'

const run = promisify(execFile)

// The authors of pg-boss support Node 22.12 and later, and not the Node that these tests run on.
test('the engine over PostgreSQL keeps the contract on Node 24 as well', async () => {
  const { stdout: version } = await run(node24, ['--version'])
  expect(version).toMatch(/^v24\./)
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  const file = 'src/engines/postgres/postgres-contract.test.ts'
  const { stdout } = await run(node24, [vitest, 'run', file, '--reporter=tap-flat', '--coverage.enabled=false'], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, VITEST: undefined },
  })
  expect(stdout.match(/^ok /gm)?.length).toBeGreaterThan(20)
  expect(stdout).not.toMatch(/^not ok |# SKIP/m)
}, 120_000)
