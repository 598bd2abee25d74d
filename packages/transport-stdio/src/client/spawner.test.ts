import { spawn } from 'node:child_process'
import crossSpawn from 'cross-spawn'
import { expect, test } from 'vitest'
import { selectSpawner } from './spawner.ts'

function failing(name: string) {
  const error = Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' })
  return { error, load: () => Promise.reject(error) }
}

test.each(['linux', 'darwin', 'freebsd'] as const)('on %s programs are started by Node alone', async (platform) => {
  expect(await selectSpawner(platform, failing('anything').load)).toEqual({ spawn })
})

test('on Windows cross-spawn starts them', async () => {
  expect(await selectSpawner('win32')).toEqual({ spawn: crossSpawn })
})

test('on Windows without it Node does, and what it lacks is said', async () => {
  const { spawn: found, limitation } = await selectSpawner('win32', failing('cross-spawn').load)
  expect(found).toBe(spawn)
  expect(limitation).toContain('npm install cross-spawn')
})

test('a cross-spawn that lacks a package of its own is not passed over', async () => {
  const { error, load } = failing('which')
  await expect(selectSpawner('win32', load)).rejects.toBe(error)
})
