import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from './folder-lock.ts'

let place: string
let folder: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'lock-'))
  folder = join(place, 'deep', 'tasks')
})
afterEach(() => rm(place, { recursive: true, force: true }))

/** Leaves a lock file as somebody else had made it. */
async function leave(holder: unknown): Promise<void> {
  await (await lockFolder(folder))()
  await writeFile(`${folder}.lock`, typeof holder === 'string' ? holder : JSON.stringify(holder))
}

test('a folder is taken, and given back', async () => {
  const unlock = await lockFolder(folder)
  expect(JSON.parse(await readFile(`${folder}.lock`, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() })
  await expect(lockFolder(folder)).rejects.toThrow('is open in this process already')
  await unlock()
  await expect(access(`${folder}.lock`)).rejects.toThrow('ENOENT')
  await (await lockFolder(folder))()
})

test('the lock of a process that has ended is taken over', async () => {
  const child = spawn(process.execPath, ['--version'])
  await once(child, 'exit')
  await leave({ pid: child.pid, host: hostname(), startedAt: '' })
  await (await lockFolder(folder))()
})

test.each([
  ['whose pid this process has now', { pid: process.pid, host: hostname(), startedAt: '1' }],
  [
    'whose pid another process has now, which began at another time',
    { pid: process.ppid, host: hostname(), startedAt: '1' },
  ],
])('what a process left %s is taken over', async (_, holder) => {
  await leave(holder)
  await (await lockFolder(folder))()
})

test.each([
  [
    'a process that runs',
    { pid: process.ppid, host: hostname(), startedAt: '' },
    `process ${process.ppid} on ${hostname()}`,
  ],
  [
    'a process of another machine',
    { pid: 1, host: 'elsewhere.example', startedAt: '1' },
    'process 1 on elsewhere.example',
  ],
  ['a file that is being written', '', 'another process'],
  ['a file of something else', '[]', 'another process'],
  ['a file with a pid that is none', { pid: 'all', host: hostname() }, 'another process'],
])('a folder is not taken from %s, and the file that says so is named', async (_, holder, who) => {
  await leave(holder)
  const taken = lockFolder(folder)
  await expect(taken).rejects.toThrow(`is open in ${who}`)
  await expect(lockFolder(folder)).rejects.toThrow(`delete ${folder}.lock if that process is gone`)
})
