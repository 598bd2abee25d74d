import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkNames } from '../src/names.mjs'
import { manifestProblems } from '../src/package-shape.mjs'
import { checkPaths } from '../src/paths.mjs'
import { unreachedScripts } from '../src/unreached.mjs'
import { listPackages } from '../src/workspace.mjs'
import { tree } from './tree.ts'

test.each(['utils.ts', 'string-helpers.ts', 'common/text.ts', 'eventStream.ts', 'event_stream.test.ts'])(
  'the name %s is reported',
  (name) => {
    expect(checkNames(tree({ [`packages/a/src/${name}`]: '' }))).toHaveLength(1)
  },
)

test.each(['event-stream.ts', 'event-stream.test.ts', 'index.ts', 'oauth2.zod.ts'])('the name %s passes', (name) => {
  expect(checkNames(tree({ [`packages/a/src/${name}`]: '' }))).toEqual([])
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
  expect(found).toContain('lacks ./sub in "publishConfig.exports"')
  expect(found).toContain('"dist" of . differs from publishConfig.exports')
  expect(found).toContain('has no "sideEffects": false')
  expect(found).toContain('has no "publishConfig.access": "public"')
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
  expect(found).toContain('lacks "repository" with its directory')
})

test('a script that no entry imports is reported, and one with a dynamic import is not', () => {
  const root = tree({
    'dist/index.js': `export { a } from './chunk-A.js'\nexport const later = () => import('./later.js')\n`,
    'dist/index.d.ts': 'export declare const a: 1\n',
    'dist/chunk-A.js': 'export const a = 1\n',
    'dist/chunk-B.js': 'export const a = 0\n',
    'dist/later.js': `import '../dist/later/part.js'\n`,
    'dist/later/part.js': '',
  })
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' }, './package.json': null }
  expect(unreachedScripts(root, exports)).toEqual(['dist/chunk-B.js'])
})
