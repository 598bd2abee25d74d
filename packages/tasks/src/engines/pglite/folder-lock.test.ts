import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
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

/** Writes a lock file like that of another process. */
async function writeLockFile(holder: unknown): Promise<void> {
  await (await lockFolder(folder))()
  await writeFile(`${folder}.lock`, typeof holder === 'string' ? holder : JSON.stringify(holder))
}

test('a folder is locked and unlocked', async () => {
  const unlock = await lockFolder(folder)
  expect(JSON.parse(await readFile(`${folder}.lock`, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() })
  await expect(lockFolder(folder)).rejects.toThrow('is open in this process already')
  await unlock()
  await expect(access(`${folder}.lock`)).rejects.toThrow('ENOENT')
  await (await lockFolder(folder))()
})

test('the lock of a process that has ended is replaced', async () => {
  const child = spawn(process.execPath, ['--version'])
  await once(child, 'exit')
  await writeLockFile({ pid: child.pid, host: hostname(), startedAt: '' })
  await (await lockFolder(folder))()
})

test.runIf(process.platform === 'linux')(
  'the lock of a killed process that nobody has waited for is replaced',
  async () => {
    // `sleep` takes the place of the shell, and does not wait for the process that the shell has started.
    const parent = spawn('sh', ['-c', 'sleep 100 & echo $!; exec sleep 100'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [output] = await once(parent.stdout, 'data')
      const pid = Number(output)
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ')
      await writeLockFile({ pid, host: hostname(), startedAt: '' })
      await (await lockFolder(folder))()
    } finally {
      parent.kill()
    }
  },
)

test.each([
  ['with the pid of this process', { pid: process.pid, host: hostname(), startedAt: '1' }],
  ['with the pid of another process with another start time', { pid: process.ppid, host: hostname(), startedAt: '1' }],
])('a lock that an earlier process %s has left is replaced', async (_, holder) => {
  await writeLockFile(holder)
  await (await lockFolder(folder))()
})

test.each([
  [
    'a running process',
    { pid: process.ppid, host: hostname(), startedAt: '' },
    `process ${process.ppid} on ${hostname()}`,
  ],
  [
    'a process of another machine',
    { pid: 1, host: 'elsewhere.example', startedAt: '1' },
    'process 1 on elsewhere.example',
  ],
  ['a file that is being written', '', 'another process'],
  ['a file with other content', '[]', 'another process'],
  ['a file with an invalid pid', { pid: 'all', host: hostname() }, 'another process'],
])('the lock of %s is not replaced, and the error names the lock file', async (_, holder, who) => {
  await writeLockFile(holder)
  const taken = lockFolder(folder)
  await expect(taken).rejects.toThrow(`is open in ${who}`)
  await expect(lockFolder(folder)).rejects.toThrow(`if it has ended and this stays, delete ${folder}.lock`)
})
