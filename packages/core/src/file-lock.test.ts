import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LockLimits, lockFile, pauseForLock } from './file-lock.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'))
  path = join(folder, 'lock')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const forEver: LockLimits = { elsewhereMs: Infinity, runningMs: Infinity }
const short: LockLimits = { elsewhereMs: 30_000, runningMs: 60_000 }

/** Locks the file, or rejects with its owner. */
const tryLock = (limits = forEver): Promise<() => Promise<void>> =>
  lockFile(path, limits, async (owner) => {
    throw new Error('locked', { cause: owner })
  })

/** Writes a lock file like that of another process, which touched it some seconds ago. */
async function writeLockFile(owner: unknown, ageSeconds = 0): Promise<void> {
  await writeFile(path, typeof owner === 'string' ? owner : JSON.stringify(owner))
  const touched = new Date(Date.now() - ageSeconds * 1000)
  await utimes(path, touched, touched)
}

test('a file that the person alone can read is locked and unlocked', async () => {
  const unlock = await tryLock()
  const owner = { pid: process.pid, host: hostname() }
  expect([(await stat(path)).mode & 0o777, JSON.parse(await readFile(path, 'utf8'))]).toMatchObject([0o600, owner])
  await expect(tryLock(short)).rejects.toMatchObject({ cause: owner })
  await unlock()
  await expect(access(path)).rejects.toThrow('ENOENT')
  await (await tryLock())()
  expect(await readdir(folder)).toEqual([])
})

test('unlocking leaves a lock that another process has taken over', async () => {
  const unlock = await tryLock()
  const other = { id: 'other', pid: process.ppid, host: hostname(), startedAt: '' }
  await writeLockFile(other)
  await unlock()
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(other)
})

test('one at a time has the lock, and takes over an abandoned one', async () => {
  await writeLockFile({ id: 'x', pid: 999_999_999, host: hostname() })
  let holders = 0
  let most = 0
  const run = async (): Promise<void> => {
    const unlock = await lockFile(path, forEver, pauseForLock)
    most = Math.max(most, ++holders)
    await new Promise((resolve) => setImmediate(resolve))
    holders--
    await unlock()
  }
  await Promise.all([run(), run(), run(), run()])
  expect([most, await readdir(folder)]).toEqual([1, []])
})

test('a folder that cannot be written is an error and no wait', async () => {
  path = join(folder, 'missing', 'lock')
  await expect(lockFile(path, forEver, pauseForLock)).rejects.toThrow('ENOENT')
})

test('the lock of a process that has ended is free', async () => {
  const child = spawn(process.execPath, ['--version'])
  await once(child, 'exit')
  await writeLockFile({ pid: child.pid, host: hostname(), startedAt: '' })
  await (await tryLock())()
})

test.runIf(process.platform === 'linux')(
  'the lock of a killed process that nobody has waited for is free',
  async () => {
    // `sleep` takes the place of the shell, and does not wait for the process that the shell has started.
    const parent = spawn('sh', ['-c', 'sleep 100 & echo $!; exec sleep 100'], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [output] = await once(parent.stdout, 'data')
      const pid = Number(output)
      await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => readFile(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ')
      await writeLockFile({ pid, host: hostname(), startedAt: '' })
      await (await tryLock())()
    } finally {
      parent.kill()
    }
  },
)

const here = { id: 'x', pid: process.ppid, host: hostname(), startedAt: '' }
const elsewhere = { id: 'x', pid: process.pid, host: 'elsewhere.example', startedAt: '1' }

test.each<[string, unknown, number, LockLimits]>([
  ['an earlier process with the pid of this process', { ...here, pid: process.pid, startedAt: '1' }, 0, forEver],
  ['an earlier process with the pid of this process, without a time', { ...here, pid: process.pid }, 9999, forEver],
  ['an earlier process with the pid of another process', { ...here, startedAt: '1' }, 0, forEver],
  ['a running process after its limit', here, 61, short],
  ['a process of another machine after its limit', elsewhere, 31, short],
  ['a process that ended before it wrote the file, after the limit', '', 31, short],
])('the lock of %s is free', async (_, owner, ageSeconds, limits) => {
  await writeLockFile(owner, ageSeconds)
  await (await tryLock(limits))()
})

test.each<[string, unknown, number, LockLimits, object | undefined]>([
  ['a running process', here, 9999, forEver, here],
  ['a running process that was suspended, before its limit', here, 59, short, here],
  ['a process of another machine', elsewhere, 9999, forEver, elsewhere],
  ['a process of another machine before its limit', elsewhere, 29, short, elsewhere],
  ['a process that is writing the file', '', 9999, forEver, undefined],
  ['a process that wrote something else', '[]', 9999, forEver, undefined],
  ['a process with an invalid pid', { pid: 'all', host: hostname() }, 9999, forEver, undefined],
])('the lock of %s is not free', async (_, owner, ageSeconds, limits, cause) => {
  await writeLockFile(owner, ageSeconds)
  await expect(tryLock(limits)).rejects.toMatchObject({ message: 'locked', cause })
})
