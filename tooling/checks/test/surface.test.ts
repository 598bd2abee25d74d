import { expect, test } from 'vitest'
import { measureSurface } from '../src/surface.mjs'
import { tree } from './tree.ts'

const entry = (file: string): object => ({ default: `./src/${file}` })

const packageTree = (): string =>
  tree({
    'packages/a/package.json': { name: '@x/a', exports: { '.': entry('index.ts'), './more': entry('more.ts') } },
    'packages/a/src/index.ts': "export { start, type Options } from './start.ts'\n",
    'packages/a/src/more.ts': "export { start } from './start.ts'\nexport const limit = 1\nexport class Failure {}\n",
    'packages/a/src/start.ts': `
interface Bounds { readonly calls?: number; readonly bytes?: number }
interface Store { get(): string }
export interface Options {
  readonly name: string
  readonly bounds?: Bounds | undefined
  readonly mode?: false | Bounds
  readonly store?: Store
  readonly onEnd?: () => void
}
export function start(first: string, options: Options): void {}
`,
  })

const functions = { together: [{ name: 'start', folder: 'packages/a', parameter: 1 }], alone: [] }

test('a group of optional data counts as its members, and a name that several entries export counts once', () => {
  const [sum, options, values, types] = measureSurface(packageTree(), functions)
  const names = ['name', 'bounds.calls', 'bounds.bytes', 'mode.calls', 'mode.bytes', 'store', 'onEnd']
  expect(options?.details).toEqual(names)
  expect([sum?.value, options?.value]).toEqual([7, 7])
  expect(values).toMatchObject({ title: 'values that @x/a exports', details: ['Failure', 'limit', 'start'] })
  expect(types).toMatchObject({ title: 'types that @x/a exports', details: ['Options'] })
})

test('a function that does not exist is an error, so that a rename is detected', () => {
  const missing = { together: [{ name: 'begin', folder: 'packages/a', parameter: 0 }], alone: [] }
  expect(() => measureSurface(packageTree(), missing)).toThrow('packages/a has no function begin')
})
