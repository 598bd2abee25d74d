import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { type Bump, copyWorkspace, increaseAll, patchesOf } from '../src/installed/workspace-copy.ts'

const dependentsOfClient = ['@x/cli', '@x/sessions', '@x/skills', '@x/tasks', '@x/testing']
/** These do not depend on `@x/schema`. */
const lowest = ['@x/core', '@x/state-codec']

/** A change of a package, and those that it gives a patch version, because their range excludes the next version. */
const bumps: readonly (readonly [string, Bump, (name: string) => boolean])[] = [
  ['@x/core', 'patch', () => false],
  ['@x/client', 'minor', (name) => dependentsOfClient.includes(name)],
  ['@x/schema', 'major', (name) => name !== '@x/schema' && !lowest.includes(name)],
]

test('a package moves by its own changes, and by a patch where it must accept the next version of another', async () => {
  const folder = await mkdtemp(`${tmpdir()}/versions-`)
  const copy = await copyWorkspace(folder)
  let versions = await copy.version()
  for (const [changed, bump, isDependent] of bumps) {
    await copy.change('one', { [changed]: bump })
    const next = await copy.version()
    const dependents = [...versions.keys()].filter(isDependent)
    expect(next).toEqual(increaseAll(versions, { [changed]: bump, ...patchesOf(dependents) }))
    versions = next
  }
  await rm(folder, { recursive: true, force: true })
})
