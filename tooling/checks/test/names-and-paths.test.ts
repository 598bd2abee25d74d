import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { manifestProblems } from '../src/package-shape.mjs'
import { checkPaths } from '../src/paths.mjs'
import { listPackages } from '../src/workspace.mjs'
import { tree } from './tree.ts'

test.each([
  ['utils.ts', 1],
  ['string-helpers.ts', 1],
  ['common/text.ts', 1],
  ['shared-answers.ts.md', 0],
  ['collections.ts', 0],
])('the name %s has %i problems', (name, count) => {
  expect(checkPaths(tree({ [`packages/a/src/${name}`]: '' }))).toHaveLength(count)
})

test.each([
  ['a path of one machine', `see /${'home'}/somebody/project`],
  ['a registry host', `  resolution: {integrity: sha512, ${'tarball'}: https://npm.example.com/a.tgz}`],
  ['a registry host', '@x:registry = https://npm.example.com'],
  ['a private key', `-----BEGIN ${'PRIVATE'} KEY-----`],
])('%s is reported', (what, text) => {
  expect(checkPaths(tree({ 'a/b.txt': `first\n${text}\n` })).join('\n')).toContain(`a/b.txt:2 contains ${what}`)
})

test('the path of the folder of the repository is reported', () => {
  const root = tree({ 'a.txt': 'fine' })
  expect(checkPaths(root)).toEqual([])
  writeFileSync(join(root, 'a.txt'), `see ${root}/a.txt`)
  expect(checkPaths(root).join('\n')).toContain(`a.txt contains ${root}`)
})

test('a manifest with different lists of entries is reported', () => {
  const dist = { types: './dist/index.d.ts', default: './dist/index.js' }
  const root = tree({
    'packages/a/package.json': {
      name: '@x/a',
      exports: { '.': { dist, default: './src/index.ts' }, './sub': './src/sub.ts' },
      publishConfig: { exports: { '.': { ...dist, default: './dist/main.js' } } },
    },
  })
  const found = listPackages(root).flatMap(manifestProblems).join('\n')
  expect(found).toContain('./sub of "exports" and of "publishConfig" differ')
  expect(found).toContain('. of "exports" and of "publishConfig" differ')
  expect(found).toContain('lacks "sideEffects": false')
  expect(found).toContain('lacks "publishConfig.access": "public"')
})

test('a peer dependency on a sibling with a range of `workspace:^` is reported', () => {
  const root = tree({
    'packages/a/package.json': {
      name: '@x/a',
      peerDependencies: { '@x/b': 'workspace:^', '@x/c': '>=0.1.0 <1', pg: '^8.16.0' },
    },
  })
  const found = listPackages(root).flatMap(manifestProblems).join('\n')
  expect(found).toContain('has the peer @x/b with the range workspace:^')
  expect(found).not.toContain('@x/c')
  expect(found).toContain('lacks "description", "keywords"')
})
