import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { watchFiles } from './watch-files.ts'

test.each([
  [false, 'code.mjs'],
  [true, 'data.json'],
])('a file that the server may write counts only in a named folder (named: %s)', async (isNamed, changed) => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-watch-'))
  let take = (_: string): void => {}
  const path = new Promise<string>((resolve) => {
    take = resolve
  })
  const stop = await watchFiles({ folders: [folder], isNamed }, (last) => take(last))
  await appendFile(join(folder, 'code.mjs'), 'x')
  await appendFile(join(folder, 'data.json'), 'x')
  expect(await path).toBe(join(folder, changed))
  await stop()
  await rm(folder, { recursive: true })
})
