import { expect, test } from 'vitest'
import { checkBorders } from '../src/borders.mjs'
import { tree } from './tree.ts'

const schema = {
  'packages/schema/package.json': { name: '@x/schema', exports: { '.': './src/index.ts', './node': './src/node.ts' } },
  'packages/schema/src/index.ts': "export { parse } from './parse.ts'\n",
  'packages/schema/src/node.ts': "export { read } from './read.ts'\n",
  'packages/schema/src/parse.ts': "export const parse = () => 'Buffer and process in a string'\n",
  'packages/schema/src/read.ts': "import { readFileSync } from 'node:fs'\nexport const read = readFileSync\n",
}

const server = (manifest: object, source: string): Record<string, string | object> => ({
  ...schema,
  'packages/server/package.json': { name: '@x/server', exports: { '.': './src/index.ts' }, ...manifest },
  'packages/server/src/index.ts': "export { serve } from './serve.ts'\n",
  'packages/server/src/serve.ts': source,
})

const check = (files: Readonly<Record<string, string | object>>): string => checkBorders(tree(files)).join('\n')

test('a tree with allowed imports passes', () => {
  const source =
    "import { parse } from '@x/schema'\nimport type { Server } from 'node:http'\nexport const serve = (s: Server) => parse(s)\n"
  expect(check(server({ dependencies: { '@x/schema': 'workspace:^' } }, source))).toBe('')
})

test.each([
  [
    'a sibling that only an application combines with it',
    "import '@x/client'",
    'imports @x/client\n  a package imports those of lower levels',
  ],
  ['tooling', "import { test } from '@tooling/vitest'", 'imports @tooling/vitest'],
  ['another package by path', "import '../../schema/src/parse.ts'", 'a relative import stays in its package'],
  ['a barrel', "import { serve } from './index.ts'", 'not through a barrel'],
  [
    'a Node module',
    "import 'node:fs'",
    '@x/server loads node:fs: packages/server/src/index.ts > packages/server/src/serve.ts',
  ],
  ['a Node module in a dynamic import', "const fs = await import('node:fs')", 'the entry runs without Node'],
  ['undici', "import 'undici'", '@x/server loads undici:'],
  ['a sibling that needs Node', "import { read } from '@x/schema/node'", 'packages/schema/src/read.ts'],
])('an import of %s is reported', (_, source, message) => {
  expect(check(server({}, `${source}\nexport const serve = 1\n`))).toContain(message)
})

test('a use of a global of Node in an entry that must run without it is reported', () => {
  expect(check(server({}, 'export const serve = process.env'))).toContain('packages/server/src/serve.ts:1 uses process')
})

test.each(['{ process: 1 }.process', 'globalThis.process', 'null as typeof process'])(
  '%s is not reported',
  (source) => {
    expect(check(server({}, `export const serve = ${source}`))).toBe('')
  },
)

test('`export *` is reported', () => {
  const files = { ...schema, 'packages/schema/src/parse.ts': "export * from './read.ts'\n" }
  expect(check(files)).toContain('packages/schema/src/parse.ts:1 has `export *`')
})

test('a package without a level is reported', () => {
  expect(check({ 'packages/new/package.json': { name: '@x/new' } })).toContain('packages/new has no level')
})

test('a dependency without a decision is reported', () => {
  const manifest = { name: '@x/client', exports: {}, dependencies: { undici: '^7.0.0' } }
  const files = { 'packages/client/package.json': manifest }
  expect(check(files)).toContain('installs undici, which no decision names')
  expect(check({ ...files, 'docs/decisions/0001-undici.md': '# The client\n\n`undici`, because.\n' })).toBe('')
})

test('a heavy module is found through a sibling', () => {
  const files = server({}, "import { parse } from '@x/schema'\nexport const serve = parse\n")
  const found = check({ ...files, 'packages/schema/src/parse.ts': "import 'zod'\nexport const parse = 1\n" })
  expect(found).toContain('@x/schema loads zod: packages/schema/src/index.ts > packages/schema/src/parse.ts')
})

test('an import with conditions is resolved without the condition of Node', () => {
  const manifest = { imports: { '#send': { node: './src/node-send.ts', default: './src/fetch-send.ts' } } }
  const files = server(manifest, "import { send } from '#send'\nexport const serve = send\n")
  const senders = {
    'packages/server/src/node-send.ts': "import 'node:http'\nexport const send = 1\n",
    'packages/server/src/fetch-send.ts': 'export const send = fetch\n',
  }
  expect(check({ ...files, ...senders })).toBe('')
  expect(check({ ...files, ...senders, 'packages/server/src/fetch-send.ts': "import 'node:http'\n" })).toContain(
    'node:http',
  )
})

test('a package that an entry leaves to others is reported with the path to it', () => {
  const files = server({}, 'export const serve = 1\n')
  const host = { name: '@x/apps', exports: { './host': './src/host.ts' } }
  const found = check({
    ...files,
    'packages/apps/package.json': host,
    'packages/apps/src/host.ts': "export { serve } from '@x/server'\n",
  })
  expect(found).toContain('@x/apps/host loads @x/server: packages/apps/src/host.ts > packages/server/src/index.ts')
})

test('tests may import other packages', () => {
  expect(check({ ...schema, 'packages/schema/src/parse.test.ts': "import 'ajv'\nimport '@tooling/vitest'\n" })).toBe('')
})

test('an import to a higher layer is reported, and one to a lower layer is not', () => {
  const files = {
    ...server({}, "import './methods/call.ts'\nexport const serve = 1\n"),
    'packages/server/src/methods/call.ts': "import '../request/read.ts'\n",
    'packages/server/src/request/read.ts': "import type { Call } from '../methods/call.ts'\n",
    'packages/server/src/request/read.test.ts': "import '../serve.ts'\n",
  }
  expect(check(files)).toMatch(
    /^packages\/server\/src\/request\/read\.ts:1 imports \.\.\/methods\/call\.ts\n.*points down.*$/,
  )
})
