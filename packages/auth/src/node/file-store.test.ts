import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileStore } from './file-store.ts'

let root = ''

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'file-store-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const folderOf = (name: string): string => join(root, name)

describe('A file store', () => {
  test('keeps each record in a file that the person alone can read [AUS-004 AUT-047]', async () => {
    const folder = folderOf('modes')
    const store = fileStore('caller', { folder })
    await store.set('token https://a', 'one')
    await store.set('token https://b', 'two')
    expect([await store.get('token https://a'), await store.get('token https://b'), await store.get('x')]).toEqual([
      'one',
      'two',
      undefined,
    ])
    const names = await readdir(folder)
    const modes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mode & 0o777))
    expect([names.length, modes, (await stat(folder)).mode & 0o777]).toEqual([2, [0o600, 0o600], 0o700])
    await store.delete('token https://a')
    await store.delete('token https://a')
    expect(await store.get('token https://a')).toBeUndefined()
  })

  test('shows a reader the old record or the new one, and nothing between', async () => {
    const store = fileStore('caller', { folder: folderOf('atomic') })
    const texts = ['a', 'b'].map((letter) => letter.repeat(200_000))
    await store.set('key', texts[0] ?? '')
    const writing = Promise.all(Array.from({ length: 20 }, (_, index) => store.set('key', texts[index % 2] ?? '')))
    for (let reads = 0; reads < 50; reads += 1) expect(texts).toContain(await store.get('key'))
    await writing
  })

  test.each(['../up', 'a/b', '', '.', '..', '.hidden', 'a\\b'])('is in no folder named %j', (name) => {
    expect(() => fileStore(name)).toThrow(TypeError)
  })

  test.each([
    ['whose process has ended', { id: 'x', pid: 999_999_999, host: hostname() }, 0],
    ['that was not renewed for 30 seconds', { id: 'x', pid: process.pid, host: 'elsewhere' }, 31],
    ['that was never written', undefined, 31],
  ])('takes a lock over %s', async (title, owner, ageSeconds) => {
    const folder = folderOf(`stale-${title.length}`)
    const store = fileStore('caller', { folder })
    let path = ''
    await store.lock?.('key', async () => {
      path = join(folder, (await readdir(folder)).find((name) => name.endsWith('.lock')) ?? '')
    })
    await writeFile(path, owner === undefined ? '' : JSON.stringify(owner))
    const then = new Date(Date.now() - ageSeconds * 1000)
    await utimes(path, then, then)
    expect(await store.lock?.('key', async () => JSON.parse(await readFile(path, 'utf8')))).toMatchObject({
      pid: process.pid,
    })
    expect(await readdir(folder)).toEqual([])
  })

  test('leaves a lock with a process of this machine that runs, though it was not renewed for a minute', async () => {
    const folder = folderOf('suspended')
    const store = fileStore('caller', { folder })
    let path = ''
    await store.lock?.('key', async () => {
      path = join(folder, (await readdir(folder)).find((name) => name.endsWith('.lock')) ?? '')
    })
    const owner = { id: 'suspended', pid: process.ppid, host: hostname(), startedAt: '' }
    await writeFile(path, JSON.stringify(owner))
    const then = new Date(Date.now() - 60_000)
    await utimes(path, then, then)
    let isTaken = false
    const taking = store.lock?.('key', async () => void (isTaken = true))
    // Several polls of the lock: a longer wait only makes the test stricter.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect([isTaken, JSON.parse(await readFile(path, 'utf8'))]).toEqual([false, owner])
    await rm(path)
    await taking
    expect(isTaken).toBe(true)
  })

  test('runs one at a time for a key, and releases the lock of a run that fails', async () => {
    const stores = [0, 1, 2].map(() => fileStore('caller', { folder: folderOf('lock') }))
    let running = 0
    let most = 0
    const run = async (): Promise<void> => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      throw new Error('failed')
    }
    const outcomes = await Promise.allSettled([...stores, ...stores].map((store) => store.lock?.('key', run)))
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(most).toBe(1)
  })
})
