import { execFileSync } from 'node:child_process'
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkChangesets } from '../src/changesets.mjs'
import { tree } from './tree.ts'

const source = 'packages/a/src/a.ts'

/** A repository whose package `@x/a` has a version. Returns its root. */
function repository(): string {
  const root = tree({
    'packages/a/package.json': { name: '@x/a', version: '0.1.0' },
    'packages/a/CHANGELOG.md': '# @x/a\n\n## 0.1.0\n',
    [source]: 'export const a = 1\n',
    'packages/a/src/a.test.ts': '',
    '.changeset/README.md': "'@x/a': minor\n",
  })
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: root })
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'a version')
  return root
}

test('a package that is as its last version needs no changeset, nor do its tests', () => {
  const root = repository()
  appendFileSync(join(root, 'packages/a/src/a.test.ts'), 'test()\n')
  expect(checkChangesets(root)).toEqual([])
})

test('a change of a source needs a changeset that names the package', () => {
  const root = repository()
  appendFileSync(join(root, source), 'export const b = 2\n')
  writeFileSync(join(root, '.changeset/a.md'), "---\n'@x/b': minor\n---\n\nNames another package.\n")
  expect(checkChangesets(root)).toEqual([
    expect.stringMatching(/a\.ts has changed since the last version of @x\/a[^]*run pnpm changeset/),
  ])
  writeFileSync(join(root, '.changeset/a.md'), "---\n'@x/a': minor\n---\n\nAdds `b`.\n")
  expect(checkChangesets(root)).toEqual([])
})
