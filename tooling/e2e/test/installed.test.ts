import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { install, measureInstall } from '../src/installed/install.ts'
import { type PackedPackage, packPackages } from '../src/installed/packed-packages.ts'
import { importedPackages, readProgram } from '../src/installed/readme-program.ts'
import { runCommand } from '../src/installed/run-command.ts'

/** Each package, with the siblings that come with it. */
const siblings: ReadonlyMap<string, readonly string[]> = new Map([
  ['@x/auth', ['@x/schema']],
  ['@x/client', ['@x/schema']],
  ['@x/legacy', ['@x/schema', '@x/state-codec']],
  ['@x/schema', []],
  ['@x/server', ['@x/schema', '@x/state-codec']],
  ['@x/sessions', ['@x/schema', '@x/state-codec']],
  ['@x/state-codec', []],
  ['@x/tasks', ['@x/schema']],
  ['@x/testing', ['@x/client', '@x/schema', '@x/server', '@x/state-codec']],
  ['@x/transport-http', ['@x/schema']],
  ['@x/transport-stdio', ['@x/schema']],
])
/** The optional peers that a user of every entry of a package installs. */
const besides: ReadonlyMap<string, readonly string[]> = new Map([
  ['@x/legacy', ['@x/transport-http', '@x/transport-stdio', '@x/client']],
  ['@x/sessions', ['@x/client']],
  ['@x/tasks', ['@x/client', '@x/server']],
])
const names = [...siblings.keys()]
const minutes = 60_000

describe('a packed package, installed by npm into an empty folder', () => {
  let folder = ''
  let packed: readonly PackedPackage[] = []
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'packed-'))
    packed = await packPackages(`${folder}/tarballs`)
  }, 5 * minutes)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const find = (name: string): PackedPackage => {
    const found = packed.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${name} is not in the workspace`)
    return found
  }

  test('is one of those that are tested here', () => {
    expect(packed.map(({ name }) => name).toSorted()).toEqual(names)
  })

  test.each(names)(
    '%s can be imported, by every entry, and brings no sibling that it does not depend on',
    async (name) => {
      const place = `${folder}/alone-${name.replace('/', '-')}`
      await install(place, [name], packed)
      const ours = (await measureInstall(place)).packages.filter((installed) => names.includes(installed))
      expect(ours.toSorted()).toEqual([name, ...(siblings.get(name) ?? [])].toSorted())
      const peers = besides.get(name) ?? []
      if (peers.length > 0) await install(place, [name, ...peers], packed)
      const program = find(name).entries.map((entry) => `await import('${entry}')`)
      await writeFile(`${place}/program.mjs`, program.join('\n'))
      await runCommand(process.execPath, ['program.mjs'], place)
    },
    3 * minutes,
  )

  test(
    'all but @x/auth together install nothing of it and run without it [AUE-033]',
    async () => {
      const others = names.filter((name) => name !== '@x/auth')
      const place = `${folder}/without-auth`
      await install(place, others, packed)
      const { packages } = await measureInstall(place)
      expect(packages).toEqual(expect.arrayContaining(others))
      expect(packages.filter((name) => ['@x/auth', 'oauth4webapi'].includes(name))).toEqual([])
      const program = others.flatMap((name) => find(name).entries.map((entry) => `await import('${entry}')`))
      await writeFile(`${place}/program.mjs`, program.join('\n'))
      await runCommand(process.execPath, ['program.mjs'], place)
    },
    3 * minutes,
  )

  test.each(names)(
    '%s runs the program of its README',
    async (name) => {
      const path = `${find(name).folder}/README.md`
      const program = await readProgram(await readFile(path, 'utf8'), path)
      const place = `${folder}/readme-${name.replace('/', '-')}`
      await install(place, [...new Set([name, ...(besides.get(name) ?? []), ...importedPackages(program)])], packed)
      await writeFile(`${place}/program.mjs`, program)
      await runCommand(process.execPath, ['program.mjs'], place)
    },
    3 * minutes,
  )
})
