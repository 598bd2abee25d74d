import { chmod, chown, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createFile, replaceFile } from './whole-file.ts'

test('a file that is replaced keeps its permissions, and its owner where the process may set it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'whole-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'keys')
  await createFile(path, 'old', 0o600)
  await chmod(path, 0o440)
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(path, 1000, 1001)
  const before = await stat(path)
  await replaceFile(path, 'new', 0o600)
  const { mode, uid, gid } = await stat(path)
  expect([await readFile(path, 'utf8'), mode & 0o777, uid, gid]).toEqual(['new', 0o440, before.uid, before.gid])
  await replaceFile(join(folder, 'another'), 'new', 0o600)
  expect((await stat(join(folder, 'another'))).mode & 0o777).toBe(0o600)
})
