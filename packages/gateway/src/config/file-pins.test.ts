import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPinFile } from './file-pins.ts'

let path: string
beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'pins-')), 'pins.json')
})
afterEach(() => rm(join(path, '..'), { recursive: true }))

const digest = (character: string): string => character.repeat(64)

test('a file has the first digest of each tool of each upstream, also of tools that are added at the same time', async () => {
  const pins = openPinFile(path)
  const [crm, files] = [pins.storeOf('crm'), pins.storeOf('files')]
  expect(await crm.get('read')).toBeUndefined()
  const names = Array.from({ length: 20 }, (_, index) => `tool-${index}`)
  await Promise.all(names.flatMap((name) => [crm.add(name, digest('a')), files.add(name, digest('b'))]))
  expect(await crm.add('tool-0', digest('c'))).toBe(digest('a'))
  const again = openPinFile(path)
  for (const name of names) expect(await again.storeOf('files').get(name)).toBe(digest('b'))
  expect(Object.keys(JSON.parse(await readFile(path, 'utf8')))).toEqual(['crm', 'files'])
})

test('upstreams and instances that open the same file keep the digests of one another', async () => {
  const names = ['crm', 'files', 'mail']
  const stores = names.map((name) => openPinFile(path).storeOf(name))
  await Promise.all(stores.flatMap((store) => ['read', 'add'].map((tool) => store.add(tool, digest('a')))))
  const digests = { read: digest('a'), add: digest('a') }
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(Object.fromEntries(names.map((name) => [name, digests])))
  expect(await readdir(join(path, '..'))).toEqual(['pins.json'])
})

test('an upstream has 10,000 tools in the file, and the file is read and written once for a list', async () => {
  const pins = openPinFile(path)
  const crm = pins.storeOf('crm')
  const names = Array.from({ length: 10_001 }, (_, index) => `tool-${index}`)
  const added = await Promise.all(names.map((name) => crm.add(name, digest('a'))))
  expect([new Set(added.slice(0, -1)), added.at(-1)]).toEqual([new Set([digest('a')]), ''])
  const { mtimeMs } = await stat(path)
  expect(await Promise.all(names.slice(0, -1).map((name) => crm.get(name)))).toEqual(added.slice(0, -1))
  expect((await stat(path)).mtimeMs).toBe(mtimeMs)
  expect(await pins.storeOf('files').add('read', digest('b'))).toBe(digest('b'))
})

test('an edit of a person counts at once', async () => {
  const crm = openPinFile(path).storeOf('crm')
  await crm.add('read', digest('a'))
  await writeFile(path, JSON.stringify({ crm: { read: digest('b') } }))
  expect(await crm.get('read')).toBe(digest('b'))
})

test('the next definition of a removed tool is accepted', async () => {
  const pins = openPinFile(path)
  await pins.storeOf('crm').add('read', digest('a'))
  expect([await pins.remove('crm', 'read'), await pins.remove('crm', 'read')]).toEqual([true, false])
  expect(await pins.storeOf('crm').add('read', digest('b'))).toBe(digest('b'))
})

test.each(['__proto__', 'constructor', 'toString'])('a tool named %s is stored like any other tool', async (name) => {
  const crm = openPinFile(path).storeOf('crm')
  expect(await crm.get(name)).toBeUndefined()
  expect(await crm.add(name, digest('a'))).toBe(digest('a'))
  expect(await openPinFile(path).storeOf('crm').get(name)).toBe(digest('a'))
})

test('a file that is not a JSON object is not changed', async () => {
  await writeFile(path, '[1]')
  await expect(async () => openPinFile(path).storeOf('crm').get('read')).rejects.toThrow('is not a JSON object')
  await expect(async () => openPinFile(path).storeOf('crm').add('read', digest('a'))).rejects.toThrow(
    'is not a JSON object',
  )
  expect(await readFile(path, 'utf8')).toBe('[1]')
})
