import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from './pglite-engine.ts'

let place: string
let folder: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'lock-'))
  folder = join(place, 'deep', 'tasks')
})
afterEach(() => rm(place, { recursive: true, force: true }))

/** Writes a lock file like that of another process. */
async function writeLockFile(owner: object): Promise<void> {
  await (await lockFolder(folder))()
  await writeFile(`${folder}.lock`, JSON.stringify(owner))
}

test('a folder is locked and unlocked', async () => {
  const unlock = await lockFolder(folder)
  await expect(lockFolder(folder)).rejects.toThrow('is already open in this process')
  await unlock()
  await expect(access(`${folder}.lock`)).rejects.toThrow('ENOENT')
  await (await lockFolder(folder))()
})

test.each([
  ['a running process', { pid: process.ppid, host: hostname() }, `process ${process.ppid} on ${hostname()}`],
  ['a process of another machine', { pid: process.pid, host: 'elsewhere' }, `process ${process.pid} on elsewhere`],
  ['a file with other content', [], 'another process'],
])('the lock of %s is not replaced, and the error names the lock file', async (_, owner, who) => {
  await writeLockFile(owner)
  await expect(lockFolder(folder)).rejects.toThrow(`is open in ${who}`)
  await expect(lockFolder(folder)).rejects.toThrow(`if it has ended and this stays, delete ${folder}.lock`)
})
