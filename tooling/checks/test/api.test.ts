import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkApi } from '../src/api.mjs'
import { tree } from './tree.ts'

const door = `
/** Hidden text. */
export interface Door { readonly open: boolean; readonly lock?: { readonly keys: readonly string[] } | undefined; readonly name: string }
export function close(door: Door, hard = false): void {}
export const limit = 3
export class Lock { #key = 1; private readonly code = 2; readonly isOpen: boolean = true; turn(): number { return this.#key + this.code } }
`

const files = (source: string): Record<string, string | object> => ({
  'packages/b/package.json': { name: '@x/b', exports: { '.': './src/index.ts' } },
  'packages/b/src/index.ts': 'export interface Room { readonly doors: number }\n',
  'packages/a/package.json': {
    name: '@x/a',
    exports: { '.': { node: { default: './src/node.ts' }, default: './src/index.ts' }, './lock': './src/lock.ts' },
  },
  'packages/a/src/index.ts':
    "export { limit, close, type Door as Gate } from './door.ts'\nexport type { Room } from '../../b/src/index.ts'\n",
  'packages/a/src/node.ts':
    "export { limit, close, type Door as Gate } from './door.ts'\nexport const descriptors = 1\n",
  'packages/a/src/lock.ts': "export { Lock, limit } from './door.ts'\n",
  'packages/a/src/door.ts': source,
})

test('the surface is drawn once, without comments, bodies and private members, and then passes', () => {
  const root = tree(files(door))
  expect(checkApi(root, ['--write'])).toEqual([])
  expect(readFileSync(join(root, 'packages/a/api.md'), 'utf8')).toBe(`# The public surface of @x/a

Drawn by \`pnpm api\` from the sources; a change here is a change for users.

## @x/a

From @x/b: Room.

\`\`\`ts
/* exported as Gate */ interface Door {
  readonly open: boolean
  readonly lock?: { readonly keys: readonly string[] } | undefined
  readonly name: string
}
function close(door: Door, hard?: boolean): void
const limit = 3
\`\`\`

## @x/a, on Node alone

\`\`\`ts
const descriptors = 1
\`\`\`

## @x/a/lock

Also limit.

\`\`\`ts
class Lock { #private; private readonly code; readonly isOpen: boolean; turn(): number }
\`\`\`
`)
  expect(checkApi(root)).toEqual([])
})

test('a changed surface is reported with its remedy', () => {
  const root = tree({ ...files(door), 'packages/a/api.md': 'old\n', 'packages/b/api.md': 'old\n' })
  expect(checkApi(root)).toEqual([
    'packages/a/api.md differs from what the package exports\n  run pnpm api, and commit the file',
    'packages/b/api.md differs from what the package exports\n  run pnpm api, and commit the file',
  ])
})
