import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkApi } from '../src/api.mjs'
import { tree } from './tree.ts'

const manifest = (name: string): object => {
  const target = { types: './dist/index.d.ts', default: './dist/index.js' }
  return { name, type: 'module', exports: { '.': { dist: target } }, publishConfig: { exports: { '.': target } } }
}
const built = (index: string, door: string): Record<string, string | object> => ({
  'packages/a/package.json': manifest('@x/a'),
  'packages/a/dist/index.d.ts': index,
  'packages/a/dist/door.d.ts': door,
})
const door =
  '/** Hidden text. */\nexport interface Door { readonly open: boolean }\nexport declare function close(door: Door): void;\nexport declare const limit = 3;\n'

test('the written surface is sorted and has no comments, and then passes', () => {
  const root = tree(built("export { limit, close, type Door } from './door.js'", door))
  expect(checkApi(root, ['--write'])).toEqual([])
  const text = readFileSync(join(root, 'packages/a/api.md'), 'utf8')
  expect(text).toContain(
    'interface Door {\n  readonly open: boolean\n}\n\nfunction close(door: Door): void\n\nconst limit = 3',
  )
  expect(text).not.toContain('Hidden text')
  expect(checkApi(root)).toEqual([])
})

test('a changed surface is reported with its difference', () => {
  const root = tree(built("export { limit, close, type Door } from './door.js'", door))
  checkApi(root, ['--write'])
  const changed = tree({
    ...built("export { limit, close, type Door } from './door.js'", door.replace('= 3', '= 4')),
    'packages/a/api.md': readFileSync(join(root, 'packages/a/api.md'), 'utf8'),
  })
  const found = checkApi(changed).join('\n')
  expect(found).toContain('- const limit = 3')
  expect(found).toContain('+ const limit = 4')
  expect(found).toContain('run pnpm api')
})

test('a type that a signature mentions but no entry exports is reported', () => {
  const root = tree(built("export { close } from './door.js'", door))
  expect(checkApi(root, ['--write']).join('\n')).toContain('close of @x/a mentions Door, which is not exported')
})

test('a type in a heritage clause or a `typeof` is reported', () => {
  const text =
    'interface Base { a: 1 }\nexport interface Door extends Base {}\ndeclare const secret: 1\nexport type Key = typeof secret\n'
  const found = checkApi(tree(built("export type { Door, Key } from './door.js'", text)), ['--write']).join('\n')
  expect(found).toContain('Door of @x/a mentions Base')
  expect(found).toContain('Key of @x/a mentions secret')
})

test('a package that is not built is reported', () => {
  expect(checkApi(tree({ 'packages/a/package.json': manifest('@x/a') })).join('\n')).toContain('@x/a is not built')
})

test('an entry with different declarations on Node is written twice', () => {
  const target = {
    node: { types: './dist/node.d.ts', default: './dist/node.js' },
    types: './dist/index.d.ts',
    default: './dist/index.js',
  }
  const root = tree({
    'packages/a/package.json': { name: '@x/a', exports: { '.': target }, publishConfig: { exports: { '.': target } } },
    'packages/a/dist/index.d.ts': 'export declare const web = 1\n',
    'packages/a/dist/node.d.ts': 'export declare const node = 1\n',
  })
  expect(checkApi(root, ['--write'])).toEqual([])
  const text = readFileSync(join(root, 'packages/a/api.md'), 'utf8')
  expect(text).toMatch(/## @x\/a\n[^#]*const web = 1[^#]*## @x\/a on Node\n[^#]*const node = 1/)
})
