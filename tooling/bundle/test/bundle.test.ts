import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bundlePackage } from '../src/bundle.mjs'
import { markPure } from '../src/mark-pure.mjs'

const manifest = {
  name: 'parcel',
  type: 'module',
  sideEffects: false,
  publishConfig: {
    exports: {
      '.': { node: { types: './dist/node.d.ts', default: './dist/node.js' }, default: './dist/index.js' },
      './web': { types: './dist/web/web.d.ts', default: './dist/web/web.js' },
    },
  },
}

const sources = {
  'package.json': JSON.stringify(manifest),
  'src/index.ts': `export { Refused } from './refused.ts'\nexport const later = () => import('./later.ts')\n`,
  'src/node.ts': `import { Refused } from './refused.ts'\nexport const isRefused = (error: unknown): boolean => error instanceof Refused\n`,
  'src/web/web.ts': `export { sep } from 'node:path'\nexport const limits = new Map(Object.entries({ most: 1 }))\nexport const name = 'web'\n`,
  'src/refused.ts': `export class Refused extends Error {}\n`,
  'src/later.ts': `export const loaded: string = 'loaded later'\n`,
  'dist/refused.js': 'export class Refused extends Error {}\n',
  'dist/refused.d.ts': 'export declare class Refused extends Error {}\n',
}

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bundle-'))
  for (const [path, text] of Object.entries(sources)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const load = (path: string) => import(pathToFileURL(join(folder, 'dist', path)).href)

describe('a bundled package', () => {
  test('has a file for each entry, one for shared modules and one for a dynamic import', async () => {
    await bundlePackage(folder)
    const scripts = (await readdir(join(folder, 'dist'), { recursive: true })).filter((file) => file.endsWith('.js'))
    const named = scripts.map((file) => file.replaceAll('\\', '/').replace(/-[A-Z0-9]{8}\./, '-hash.')).toSorted()
    expect(named).toEqual(['chunk-hash.js', 'index.js', 'later-hash.js', 'node.js', 'web/web.js'])
  })

  test('with the option `joined` has one file for the modules of its main entry, and the same exports', async () => {
    const shared = { 'src/index.ts': `export { Refused } from './refused.ts'\nexport { most } from './most.ts'\n` }
    const parts = { 'src/most.ts': 'export const most = 7\n', 'src/web/web.ts': `export { most } from '../most.ts'\n` }
    for (const [path, text] of Object.entries({ ...shared, ...parts })) await writeFile(join(folder, path), text)
    const scripts = async () => (await readdir(join(folder, 'dist'))).filter((file) => /^chunk.*\.js$/.test(file))
    await bundlePackage(folder)
    expect(await scripts()).toHaveLength(2)
    await bundlePackage(folder, { joined: true })
    expect(await scripts()).toHaveLength(1)
    const [index, node, web] = [await load('index.js'), await load('node.js'), await load('web/web.js')]
    expect(Object.keys(index)).toEqual(['Refused', 'most'])
    expect(node.isRefused(new index.Refused('no'))).toBe(true)
    expect(web.most).toBe(7)
  })

  test('has one instance of a class in all entries', async () => {
    await bundlePackage(folder)
    const [index, node] = [await load('index.js'), await load('node.js')]
    expect(node.isRefused(new index.Refused('no'))).toBe(true)
    expect((await index.later()).loaded).toBe('loaded later')
  })

  test('keeps the declarations, and removes scripts of an earlier build', async () => {
    await bundlePackage(folder)
    const files = await readdir(join(folder, 'dist'))
    expect(files).toContain('refused.d.ts')
    expect(files).not.toContain('refused.js')
  })

  test('contains its source in its source maps', async () => {
    await bundlePackage(folder)
    const map = JSON.parse(await readFile(join(folder, 'dist/web/web.js.map'), 'utf8'))
    expect(map.sourcesContent).toEqual([sources['src/web/web.ts']])
  })

  test('adds no unused code to an application', async () => {
    await bundlePackage(folder)
    const contents = `export { name } from './dist/web/web.js'`
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
    })
    expect(outputFiles[0]?.text).toContain('"web"')
    expect(outputFiles[0]?.text).not.toContain('Map')
  })

  test('is rejected with the name of an entry that is not a built file', async () => {
    const other = { ...manifest, publishConfig: { exports: { '.': './src/index.ts' } } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(other))
    await expect(bundlePackage(folder)).rejects.toThrow('names "./src/index.ts"; name a file like ./dist/index.js')
  })
})

describe('markPure', () => {
  test.each([
    ['a call', `const a = f(1)`, `const a = /* @__PURE__ */ (() => (f(1)))()`],
    ['a product', `const a = 2 * 1024`, `const a = /* @__PURE__ */ (() => (2 * 1024))()`],
    ['a member', `const a = b.c`, `const a = /* @__PURE__ */ (() => (b.c))()`],
    [
      'an annotated call with arguments that may have effects',
      'const a = /* @__PURE__ */ new Map([[b, `${c}`]])',
      'const a = /* @__PURE__ */ /* @__PURE__ */ (() => (new Map([[b, `${c}`]])))()',
    ],
    ['a value with a spread', `const a = { ...b }`, `const a = /* @__PURE__ */ (() => ({ ...b }))()`],
    [
      'each of several variables',
      `var a = f(), b = g()`,
      `var a = /* @__PURE__ */ (() => (f()))(), b = /* @__PURE__ */ (() => (g()))()`,
    ],
    [
      'an exported namespace',
      `var a = {};\n__export(a, { b: () => b });`,
      `var a = /* @__PURE__ */ ((target) => (\n__export(target, { b: () => b }), target))({});`,
    ],
    ['a relative import without a name', `import "./chunk.js";\nf()`, `\nf()`],
  ])('marks %s', (_, source, marked) => {
    expect(markPure(source)).toBe(marked)
  })

  test.each([
    ['a plain value', `const a = { b: 1 }`],
    ['a function that calls', `const a = () => f()`],
    ['an annotated call', `const a = /* @__PURE__ */ new Map()`],
    ['an awaited value', `const a = await f()`],
    ['a statement with a side effect', `f()`],
    ['a class whose instances call', `const a = class { b = f() }`],
    ['a call inside a function', `function a() {\n  const b = f()\n}`],
    ['an import of another package without a name', `import "other"`],
    ['a relative import with a name', `import { a } from "./chunk.js"`],
  ])('does not change %s', (_, source) => {
    expect(markPure(source)).toBe(source)
  })
})
